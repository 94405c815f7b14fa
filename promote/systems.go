package promote

import (
	"context"
	"errors"
	"sync"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/facts"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/pull"
	"github.com/acme/knative-promote/promote/runs"
	"github.com/acme/knative-promote/promote/source"
)

// Systems are what a run works on, and whom it tells of it.
type Systems struct {
	Branch   Branch
	Commits  runs.Commits
	Has      source.Has   // nil: nobody can tell which commits Branch has had
	Reviews  pull.Reviews // nil: nothing is to come by a pull request
	Cluster  Cluster      // nil: there is no Argo CD to ask, which is enough for a plan
	Reporter journal.Reporter
	Metrics  metrics.Asker // nil: there is no Prometheus to ask

	Sources analysis.Sources // what AnalysisTemplates measure with

	Statuses      source.Statuses // nil: nobody can tell the statuses of a commit
	SourceCluster source.Cluster  // nil: nobody can tell what runs in the environments that images come from
	SourceBranch  source.Branch   // nil: those are on Branch
	SourceHas     source.Has      // nil: nobody can tell which commits their branch has

	Evidence EvidenceReader // nil: nobody can tell what a revision has written

	Facts facts.Systems // that the check and the preflight ask

	// Cancelled is closed when somebody cancels the run, also one whose time is
	// over. Nil: the context alone tells.
	Cancelled <-chan struct{}
}

// Branch is the infra repository's branch: read at its tip, changed by one
// commit at a time.
type Branch interface {
	Tip(context.Context) (gitops.Snapshot, error)
	Publish(context.Context, gitops.Change) (gitops.Commit, error)
}

// Cluster is the Service as Argo CD shows it.
type Cluster interface {
	live.Cluster
	Check(context.Context, argo.Intent) (argo.Verdict, argo.Observed, error)
	Await(ctx context.Context, intent argo.Intent, report func(argo.Verdict)) (argo.Observed, error)
}

// complete puts one that answers nothing in the place of an Argo CD that is not
// there.
func (s Systems) complete() Systems {
	if s.Cluster == nil {
		s.Cluster = noCluster{}
	}
	s.Reporter = &oneByOne{reporter: s.Reporter}
	return s
}

// cancelled tells whether somebody has cancelled the run, as its cause need not
// be context.Canceled.
func (s Systems) cancelled(ctx context.Context) bool {
	select {
	case <-s.Cancelled:
		return true
	default:
		return errors.Is(ctx.Err(), context.Canceled)
	}
}

// errNoCluster is the answer where there is no Argo CD to ask.
var errNoCluster = errors.New("no argocd-server and application are given")

// noCluster is where nobody can be asked.
type noCluster struct{}

// Live knows nothing.
func (noCluster) Live(context.Context, argo.Target) (argo.Observed, error) {
	return argo.Observed{}, errNoCluster
}

// Check knows nothing.
func (noCluster) Check(context.Context, argo.Intent) (argo.Verdict, argo.Observed, error) {
	return argo.Verdict{}, argo.Observed{}, errNoCluster
}

// Await knows nothing.
func (noCluster) Await(context.Context, argo.Intent, func(argo.Verdict)) (argo.Observed, error) {
	return argo.Observed{}, errNoCluster
}

// Revision knows nothing.
func (noCluster) Revision(context.Context, argo.App, string, string) (*servingv1.Revision, error) {
	return nil, errNoCluster
}

// oneByOne keeps the targets of a run, which wait side by side, from telling a
// Reporter two things at once.
type oneByOne struct {
	mu       sync.Mutex
	reporter journal.Reporter
}

// Tell passes the event on.
func (o *oneByOne) Tell(e event.Event, all event.Result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reporter.Tell(e, all)
}

// Line passes the line on.
func (o *oneByOne) Line(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reporter.Line(text)
}

// Debug passes the line on.
func (o *oneByOne) Debug(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reporter.Debug(text)
}

// EvidenceReader tells what the pod of a revision has written, and its events.
type EvidenceReader interface {
	Evidence(ctx context.Context, app argo.App, revision string) argo.Evidence
}
