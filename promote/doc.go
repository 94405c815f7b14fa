// Package promote moves one Knative Service of a GitOps repository to a new
// template, step by step, and takes everything back when a step is not good.
//
// A promotion is a list of changes. A change is one commit. After each change
// every gate must pass. If one does not, one more change restores what was
// there.
//
//	Config ─► NewPlan(Config, state at the tip) ─► []Change ─► for each: Publish ─► gates ─► Result
//	                                                          └── a gate fails ─► restore ◄─┘
//
// What is left to do is always computed from the tree at the branch's tip,
// never from memory, and never from commit messages, dates or ancestors: the
// [Record] in the overlay's own file says what a promotion is. So a run that
// crashed continues when it is started again, whatever people have done with
// its commits meanwhile. When the last gate has passed, one more commit says so.
//
// The package knows the infra repository and Argo CD through small interfaces.
// It reads no environment and no files, and it prints nothing.
package promote
