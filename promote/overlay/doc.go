// Package overlay reads a target's overlay at commits of the infra repository, and tells
// which of them still show what a commit of ours has set.
package overlay
