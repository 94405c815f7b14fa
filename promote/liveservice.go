package promote

import (
	"context"
	"errors"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/plan"
)

// A liveService is what Argo CD can tell of the target's Service.
type liveService struct {
	plan.Target
	cluster Cluster
	unseen  bool // nobody could look at it, so its namespace is not known either
}

// observe reads the Application and the live Service. One that is not there yet is
// no error. Patience of zero waits as long as the context.
func (s liveService) observe(ctx context.Context, patience time.Duration) (argo.Observed, error) {
	if patience > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, patience)
		defer stop()
	}
	seen, err := s.cluster.Live(ctx, s.Target.Target)
	if errors.Is(err, argo.ErrNotFound) && seen.App != nil {
		return argo.Observed{App: seen.App}, nil
	}
	return seen, err
}

// revision asks for a revision, but not for long.
func (s liveService) revision(ctx context.Context, namespace, name string) (*servingv1.Revision, error) {
	if s.unseen && namespace == "" {
		return nil, errors.New("the live Service was not seen") // which does not say that the revision is gone
	}
	ctx, stop := context.WithTimeout(ctx, patienceOf(ctx))
	defer stop()
	return s.cluster.Revision(ctx, s.App, namespace, name)
}

// revisionTime is how long a run waits for what it can do without. A run that is ended
// waits no more than a quarter of what it has left: it has a commit to make.
const revisionTime = 2 * time.Second

func patienceOf(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return min(revisionTime, time.Until(end)/4)
	}
	return revisionTime
}

// namespaceOf is where a Service lives; empty where it was not seen.
func namespaceOf(live *servingv1.Service) string {
	if live == nil {
		return ""
	}
	return live.Namespace
}
