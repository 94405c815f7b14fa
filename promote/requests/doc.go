// Package requests asks a Service as its users do, over HTTP: once, or at a
// fixed rate. It tells an answer, a request that got none, and one that was
// never sent, as the way there was closed, from each other.
package requests
