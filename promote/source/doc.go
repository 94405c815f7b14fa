// Package source looks at the environments that images are taken from: whether what they
// run is good there and for how long, which images that are, and whether it was rolled
// back since.
package source
