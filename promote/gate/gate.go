// Package gate is what must be true after every step of a promotion before the next
// one is published: that it is live and stays so, and that the candidate answers as
// its inputs want. A gate is a value that is given an Ask and gives an Outcome: it
// knows nothing of the run that asks it.
package gate

import (
	"context"
	"errors"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/slo"
)

// A Gate must pass after every step before the next one is published. The
// zero Gate is one that is not asked.
type Gate struct {
	Name string
	// Patience is the longest that Check takes.
	Patience time.Duration
	// Routed says that Check passes only where Knative routes to the old revision too.
	Routed bool
	// Measures says that it counts or compares: the report shows what also where it has passed.
	Measures bool
	Check    func(context.Context, Ask) Outcome
}

// A Step is what a gate is asked after.
type Step struct {
	Name    string        // for people: candidate, 10 %, 100 %, restore, rollback
	Percent int           // of the traffic, that the new revision has
	Bake    time.Duration // how long what is live must stay so
	AtOnce  bool          // it takes the place of all steps
	Next    int           // the share that comes after it; 0: none does
}

// An Ask is all that a gate knows: of which Service, after which step and commit, and
// what was seen before it. It is a copy: what a gate changes of it nobody sees.
type Ask struct {
	Service  string // name of the Knative Service
	Tag      string // of the new revision, in the traffic below 100 %
	From, To string // the old revision, empty on a first deployment, and the new one
	Image    string // the image that gives the promotion its name
	Step     Step
	Commit   string        // that shows the step
	Intent   argo.Intent   // what the commit must make true in the cluster
	Observed argo.Observed // the Application and the live Service as last seen
	Counted  []slo.Period  // the requests in the steps before

	Cluster  Cluster
	Revision func(ctx context.Context, namespace, name string) (*servingv1.Revision, error) // waits two seconds at most
	Metrics  metrics.Asker                                                                  // nil: there is no Prometheus to ask
	Sources  analysis.Sources                                                               // what AnalysisTemplates measure with

	Say   func(format string, args ...any) // prints a line into the log
	Debug func(format string, args ...any) // prints a line into the debug log
}

// Cluster is the Service as Argo CD shows it, beside what a commit wants.
type Cluster interface {
	Check(context.Context, argo.Intent) (argo.Verdict, argo.Observed, error)
	Await(ctx context.Context, intent argo.Intent, report func(argo.Verdict)) (argo.Observed, error)
}

// An Outcome is what a gate says. What it cannot see does not pass.
type Outcome struct {
	Reason string // what was seen, in words, where it passes
	// Err is why the gate does not pass; nil: it does. An Inconclusive one says that
	// nothing speaks against the candidate beyond chance, and not enough for it.
	Err      error
	Observed argo.Observed // what was seen of the Service; the zero value: it was not looked at
	Counted  []slo.Period  // the requests in this step and in those before; nil: none were counted
}

// said is the Outcome of a gate that neither looks at the Service nor counts.
func said(reason string, err error) Outcome { return Outcome{Reason: reason, Err: err} }

// Patience is the longest that rows of gates take.
func Patience(rows [][]Gate) time.Duration {
	var all time.Duration
	for _, row := range rows {
		var longest time.Duration
		for _, gate := range row {
			longest = max(longest, gate.Patience)
		}
		all += longest
	}
	return all
}

// Inconclusive is why a gate cannot tell whether the candidate is good.
type Inconclusive struct{ Err error }

// Error says so, before the reason.
func (i Inconclusive) Error() string { return "inconclusive: " + i.Err.Error() }

// Unwrap gives the reason.
func (i Inconclusive) Unwrap() error { return i.Err }

// ErrTimeout is the cause that ends the context of a run whose time is up.
var ErrTimeout = errors.New("the run's timeout is over")

// cutOff is inconclusive where the run's timeout has ended a gate that counts: what it
// had counted by then has not failed it.
func cutOff(err error) error {
	if errors.Is(err, ErrTimeout) {
		return Inconclusive{err}
	}
	return err
}
