// Package manifest compares two rendered manifests and returns what changes as
// data, with the secrets hidden. Whoever shows a difference, as text, Markdown
// or counts, shows that value, and none of them has to know what a secret is.
//
// Every function is pure.
package manifest
