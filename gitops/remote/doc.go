// Package remote talks to one Git server, over HTTP, ssh or a path: it asks where
// the branches are, fetches objects and pushes a commit to a branch. Each exchange
// has a deadline; one that only reads is tried again after errors that may pass.
// What a server sends is bounded, and what it says is quoted as one short line
// without credentials. What is read is kept by package store.
package remote
