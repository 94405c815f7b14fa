// Package store is what of a repository is in memory: commits, folders and small
// files by their hashes. What is missing is fetched by package remote when it is
// asked for: a single folder or file where the server gives those out, else a whole
// commit. The memory is bounded.
package store
