package promote

import (
	"context"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/sleep"
)

func (s *sharedCluster) Live(ctx context.Context, _ argo.Target) (argo.Observed, error) {
	if err := s.request(ctx); err != nil {
		return argo.Observed{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cluster.look()
}

func (s *sharedCluster) Check(ctx context.Context, in argo.Intent) (argo.Verdict, argo.Observed, error) {
	return s.check(ctx, in, argo.Memory{})
}

func (s *sharedCluster) check(ctx context.Context, in argo.Intent, before argo.Memory) (argo.Verdict, argo.Observed, error) {
	if err := s.request(ctx); err != nil {
		return argo.Verdict{}, argo.Observed{}, err
	}
	s.mu.Lock()
	seen := s.cluster.observed(in)
	s.mu.Unlock()
	var err error
	if seen.Relation, err = relate(ctx, in, seen.App.Status.Sync.Revision); err != nil {
		return argo.Verdict{}, seen, err
	}
	if seen.Relation == argo.Same || seen.Relation == argo.Carrying {
		if seen.Moved, err = argo.Moved(ctx, in, seen.App, seen.Service); err != nil {
			return argo.Verdict{}, seen, err
		}
	}
	return argo.Judge(in, seen, before), seen, nil
}

// Await looks until there is an answer. A trouble that has been seen twenty times lasts:
// the machine's clock decides nothing.
func (s *sharedCluster) Await(ctx context.Context, in argo.Intent, report func(argo.Verdict)) (argo.Observed, error) {
	var before argo.Memory
	for {
		s.mu.Lock()
		app, live := s.cluster.application(), s.cluster.observed(in).Service
		s.mu.Unlock()
		if moved, err := argo.Moved(ctx, in, app, live); moved.Service == "" && (in.Restores || len(moved.Beside) == 0) && err == nil {
			if err := s.syncByHand(ctx); err != nil {
				return argo.Observed{}, err
			}
		}
		verdict, seen, err := s.check(ctx, in, before)
		if err != nil {
			return seen, err
		}
		if before.TroubleFor += argo.Grace / 20; verdict.Trouble != before.Trouble {
			before = argo.Memory{Trouble: verdict.Trouble}
		}
		report(verdict)
		if over, err := endedBy(verdict); over {
			return seen, err
		}
		if err := sleep.For(ctx, 50*time.Millisecond); err != nil {
			return seen, err
		}
	}
}

// syncByHand has Argo CD sync where it does not do so by itself.
func (s *sharedCluster) syncByHand(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.cluster.manual {
		return nil
	}
	return s.sync(ctx, true)
}

func (s *sharedCluster) Revision(ctx context.Context, _ argo.App, _, name string) (*servingv1.Revision, error) {
	if err := s.request(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cluster.found(name)
}
