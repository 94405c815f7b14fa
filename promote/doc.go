// Package promote moves one Knative Service of a GitOps repository to a new
// template, step by step, and rolls everything back when a step is not good.
//
// A promotion is a list of steps. A step is one commit. After each step every
// gate must pass. If one does not, one more commit restores what was there.
//
//	Config ─► plan.New(Settings, Situation at the tip) ─► []PlannedStep ─► for each: Publish ─► gates ─► outcome
//	                                                                      └── a gate fails ─► restore ◄─┘
//	events ─► Result, as far as the run has come ─► Reporter
//
// What is left to do is always computed from the tree at the branch's tip,
// never from memory, and never from commit messages, dates or ancestors: the
// record in the overlay's own file says what a promotion is. So a run that
// crashed continues when it is started again, whatever people have done with
// its commits meanwhile. When the last gate has passed, one more commit says so.
//
// [Run], [Rollback], [Examine] and [History] are the commands. They know the
// infra repository and Argo CD through the small interfaces of [Systems]. The
// package reads no files and prints nothing; of the environment it reads what
// says which proxy the probe goes through.
package promote
