// Package review brings changes into a branch that takes no push: each as one
// commit on a branch of its own, by a pull request, which it opens, has merged or
// waits for, and whose end it tells.
//
// The branch decides whether a change is in it, not what the forge says of the
// pull request: people squash, rebase and revert.
package review
