// Package proposal looks at what a pull request of the infra repository proposes, and
// prepares it: a changed template gets a revision's name of its own, as a candidate that
// waits for a promotion.
package proposal
