// Package live asks Argo CD for the live Service of a target and for its revisions, and
// says which of them Knative can route to. Nobody waits for it for long.
package live
