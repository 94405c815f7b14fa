// Package plan computes from a situation, the overlay at the branch's tip and what is
// live, what is left to do of a promotion, and makes its edits: which files a commit
// changes, with which record and trailers, and what must be true after it. It asks
// nobody and has no clock.
package plan
