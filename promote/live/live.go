package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/plan"
)

// A Cluster is an Argo CD that shows live objects.
type Cluster interface {
	Live(context.Context, argo.Target) (argo.Observed, error)
	Revision(ctx context.Context, app argo.App, namespace, name string) (*servingv1.Revision, error)
}

// A Service is what Argo CD can tell of the target's Service.
type Service struct {
	plan.Target
	Cluster Cluster
	Unseen  bool // nobody could look at it, so its namespace is not known either
}

// Observe reads the Application and the live Service. One that is not there yet is
// no error. Patience of zero waits as long as the context.
func (s Service) Observe(ctx context.Context, patience time.Duration) (argo.Observed, error) {
	if patience > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, patience)
		defer stop()
	}
	seen, err := s.Cluster.Live(ctx, s.Target.Target)
	if errors.Is(err, argo.ErrNotFound) && seen.App != nil {
		return argo.Observed{App: seen.App}, nil
	}
	return seen, err
}

// SeenOnce is the Service as it was seen before, or else as it is now; nil: nobody can tell. A run
// may have begun while Argo CD did not answer.
func (s Service) SeenOnce(ctx context.Context, before *servingv1.Service, patience time.Duration) *servingv1.Service {
	if before != nil {
		return before
	}
	seen, _ := s.Observe(ctx, patience) // then there is none
	return seen.Service
}

// errUnseen does not say that a revision is gone.
var errUnseen = errors.New("the live Service was not seen")

// Revision asks for a revision, but not for long.
func (s Service) Revision(ctx context.Context, namespace, name string) (*servingv1.Revision, error) {
	if s.Unseen && namespace == "" {
		return nil, errUnseen
	}
	ctx, stop := context.WithTimeout(ctx, PatienceOf(ctx))
	defer stop()
	return s.Cluster.Revision(ctx, s.App, namespace, name)
}

// Find asks for a revision of a Service that was seen. Argo CD's tree of live objects is not
// complete for a while after a restart, so what it does not find is gone only where it finds
// another one that the Service's status names, and then still does not find this one.
func (s Service) Find(ctx context.Context, seen *servingv1.Service, name string) (*servingv1.Revision, error) {
	found, err := s.Revision(ctx, NamespaceOf(seen), name)
	other := otherOf(seen, name)
	if !errors.Is(err, argo.ErrNotFound) || other == "" {
		return found, err
	}
	if _, err := s.Revision(ctx, NamespaceOf(seen), other); err != nil {
		return nil, fmt.Errorf("neither %s nor %s, which the Service has, is found by Argo CD: its list of live objects is not complete", name, other)
	}
	return s.Revision(ctx, NamespaceOf(seen), name)
}

// otherOf is a revision that a Service's status names beside one; empty: none.
func otherOf(seen *servingv1.Service, name string) string {
	if seen == nil {
		return ""
	}
	for _, t := range seen.Status.Traffic {
		if t.RevisionName != name && t.RevisionName != "" {
			return t.RevisionName
		}
	}
	if ready := seen.Status.LatestReadyRevisionName; ready != name {
		return ready
	}
	return ""
}

// revisionTime is how long a run waits for what it can do without. A run that is ended
// waits no more than a quarter of what it has left: it has a commit to make.
const revisionTime = 5 * time.Second

// PatienceOf is how long a run waits for what it can do without, by the time that it has
// left.
func PatienceOf(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return min(revisionTime, time.Until(end)/4)
	}
	return revisionTime
}

// Serving is the revision that has the traffic where Git names none: all of it by the
// Service's status, also where somebody has moved it there by hand, else the latest ready
// one; empty: none has been ready yet.
func Serving(live *servingv1.Service) string {
	for _, t := range live.Status.Traffic {
		if knative.Percent(t) == 100 && t.RevisionName != "" {
			return t.RevisionName
		}
	}
	return live.Status.LatestReadyRevisionName
}

// NamespaceOf is where a Service lives; empty where it was not seen.
func NamespaceOf(live *servingv1.Service) string {
	if live == nil {
		return ""
	}
	return live.Namespace
}

// Readiness asks for a revision.
func (s Service) Readiness(ctx context.Context, live *servingv1.Service, name string) (*servingv1.Revision, plan.Readiness) {
	found, err := s.Find(ctx, live, name)
	return found, plan.ReadinessBeside(live, name, found, err)
}

// StaysLost is why Knative cannot route to a revision, where it cannot for as long as the gates bear with trouble; empty: it
// can, or that is not known. The error is that the context has ended.
func (s Service) StaysLost(ctx context.Context, live *servingv1.Service, name string) (why string, err error) {
	if _, ready := s.Readiness(ctx, live, name); !ready.Lost() {
		return "", nil
	}
	if err := sleep.For(ctx, argo.Grace); err != nil {
		return "", err
	}
	if _, ready := s.Readiness(ctx, live, name); ready.Lost() {
		return ready.Why, nil
	}
	return "", nil
}

// Why is why Knative cannot route to a revision; empty: it can, or that is not known.
func (s Service) Why(ctx context.Context, live *servingv1.Service, name string) string {
	_, ready := s.Readiness(ctx, live, name)
	return ready.Why
}

// Optional tells whether no user's request goes to a target, and whether it is of
// another revision than the one that the commit makes.
func Optional(t servingv1.TrafficTarget, made string) bool {
	return knative.Percent(t) == 0 && t.RevisionName != "" && t.RevisionName != made
}

// Unroutable says of the revisions of the optional targets that Knative certainly
// cannot route to why, by name. The candidate is what a run is about.
func (s Service) Unroutable(ctx context.Context, live *servingv1.Service, traffic []servingv1.TrafficTarget, made, candidateTag string) map[string]string {
	known := map[string]string{}
	for _, t := range traffic {
		if _, asked := known[t.RevisionName]; Optional(t, made) && t.Tag != candidateTag && !asked {
			known[t.RevisionName] = s.Why(ctx, live, t.RevisionName)
		}
	}
	maps.DeleteFunc(known, func(_, why string) bool { return why == "" })
	return known
}

// Blocking says of an optional target that Knative certainly cannot route to it, so that it
// changes nothing of the Service's routes; empty: there is none.
func (s Service) Blocking(ctx context.Context, live *servingv1.Service, traffic []servingv1.TrafficTarget, made string) string {
	if slices.ContainsFunc(traffic, knative.Follows) {
		if why := s.LatestDown(ctx, live, made); why != "" {
			return fmt.Sprintf("the latest revision, %s, which a target at 0 %% follows, %s, so Knative routes nothing anew", live.Status.LatestReadyRevisionName, why)
		}
	}
	for _, t := range traffic {
		if !Optional(t, made) {
			continue
		}
		if why := s.Why(ctx, live, t.RevisionName); why != "" {
			return fmt.Sprintf("revision %s, at 0 %%, %s, so Knative routes nothing anew", t.RevisionName, why)
		}
	}
	return ""
}

// blockingEvery is how often it is looked whether a target at 0 % keeps a rollback from
// becoming live: nobody is to wait for that as long as for a revision that starts.
const blockingEvery = 10 * time.Second

// WhileRoutable is a context that ends, with the reason as its cause, once blocking gives
// one. Nothing asks any more when stop has returned.
func WhileRoutable(ctx context.Context, blocking func(context.Context) string) (until context.Context, stop func()) {
	until, end := context.WithCancelCause(ctx)
	ended := make(chan any)
	go func() {
		defer func() {
			panicked := recover()
			end(nil)
			ended <- panicked
		}()
		for sleep.For(until, blockingEvery) == nil {
			if why := blocking(until); why != "" {
				end(errors.New(why))
			}
		}
	}()
	return until, func() {
		end(nil)
		if panicked := <-ended; panicked != nil {
			panic(panicked) // where it ends the run as anywhere else
		}
	}
}
