package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"
	"time"

	"knative.dev/serving/pkg/apis/autoscaling"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/setting"
)

const (
	// warmUpPatience is for the first answer, which waits until a pod has started.
	warmUpPatience = 2 * time.Minute
	// warmUpPods is for further pods: the autoscaler looks back over six seconds
	// before it panics, and then a pod has to start
	// (https://knative.dev/docs/serving/autoscaling/kpa-specific/#panic-window).
	warmUpPods = 45 * time.Second
	// warmUpMost is the most requests that are sent at once to have pods made.
	warmUpMost = 50
	// warmUpPause is between two requests of one of those that send at once.
	warmUpPause = 500 * time.Millisecond
)

func warmUpKind() Kind {
	return Kind{
		Name: "warm-up", Passes: "the candidate has a pod that answers", Asked: "with `warm-up`, before each further share of the traffic", Sends: "warm-up",
		Inputs: func(s *Settings) []setting.Row {
			return []setting.Row{{Name: "warm-up", Said: setting.Guard, Example: "/healthz", Address: true, Value: setting.Bind(&s.WarmUp, parsePath),
				Usage: "path to request on the candidate's URL so that it has a ready pod when it gets traffic; more pods are told, not promised"}}
		},
		Gate: func(s Settings, step Step, _ Templates) Gate { return s.warmUpGate(step) },
	}
}

func parsePath(text string) (string, error) {
	if !setting.IsPath(text) {
		return "", errors.New("expected a path that starts with one slash")
	}
	return text, nil
}

// warmUpGate sees to it that the candidate has a pod before it gets traffic, and,
// where requests can bring them up, as many as its next share needs. More than
// the first is told and not promised.
func (s Settings) warmUpGate(step Step) Gate {
	if s.WarmUp == "" || step.Next == 0 {
		return Gate{}
	}
	return Gate{
		Patience: warmUpPatience + warmUpPods,
		Check: func(ctx context.Context, ask Ask) Outcome {
			url, err := ask.candidateURL()
			if err != nil {
				return Outcome{Err: err}
			}
			client := s.Route.Open()
			defer client.Close()
			w := warmUp{client, requests.Address(url, s.WarmUp)}
			if err := w.first(ctx); err != nil {
				return Outcome{Err: err}
			}
			return said(w.pods(ctx, s.replicas(ask, step.Next)))
		},
	}
}

// warmUp asks the candidate so that it has pods.
type warmUp struct {
	client *requests.Client
	url    string
}

// first asks until there is an answer of a pod, whatever it says: how good it is
// other gates judge, and a service may rightly answer 404 at this path. For a
// while after the candidate is ready the gateway may not know its route, and
// answer 404 by itself (https://github.com/knative/serving/issues/3312).
func (w warmUp) first(ctx context.Context) error {
	patience, stop := context.WithTimeout(ctx, warmUpPatience)
	defer stop()
	for {
		answer := w.client.Get(patience, w.url, io.Discard)
		if answer.Status > 0 && answer.Status < 500 && !answer.Gateway {
			return nil
		}
		if over := sleep.For(patience, probePause); over != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("asking %s: %w", requests.Shown(w.url), context.Cause(ctx))
			}
			return fmt.Errorf("%s: no answer of a pod in %s: %w", requests.Shown(w.url), warmUpPatience, cmp.Or(answer.Fault(0), over))
		}
	}
}

// replicas reads how many pods the candidate has, and works out how many its next
// share of the traffic needs.
func (s Settings) replicas(ask Ask, next int) func(context.Context) replicas {
	read := func(ctx context.Context, name string) *servingv1.Revision {
		revision, err := ask.Revision(ctx, ask.namespace(), name)
		if err != nil {
			ask.Debug("warm-up: reading revision %s: %v", name, err)
		}
		return revision
	}
	old, share := oldOf(ask.Intent, ask.To)
	return func(ctx context.Context) replicas {
		r := replicas{next: next, atOnce: warmUpMost}
		candidate := read(ctx, ask.To)
		if candidate == nil || candidate.Status.ActualReplicas == nil {
			return r
		}
		r.known, r.has = true, int(*candidate.Status.ActualReplicas)
		if !s.ByMetrics() { // which would take them for requests of users
			r.atOnce = requestsAPod(candidate)
		}
		if revision := read(ctx, old); revision != nil && revision.Status.ActualReplicas != nil && share > 0 {
			r.needs = int(math.Ceil(float64(*revision.Status.ActualReplicas) * float64(next) / float64(share)))
		}
		return r
	}
}

// requestsAPod is how many requests at once a pod has before the autoscaler wants
// another one, by Knative's defaults where the revision says nothing
// (https://knative.dev/docs/serving/autoscaling/concurrency/).
func requestsAPod(r *servingv1.Revision) int {
	target := 100.0
	if limit := r.Spec.ContainerConcurrency; limit != nil && *limit > 0 {
		target = float64(*limit)
	}
	if text := r.Annotations[autoscaling.TargetAnnotationKey]; text != "" {
		if asked, err := strconv.ParseFloat(text, 64); err == nil && asked > 0 {
			target = min(target, asked)
		}
	}
	return max(1, int(0.7*target))
}

// replicas are the pods of a candidate, as far as they are known.
type replicas struct {
	known  bool
	has    int
	needs  int // for its next share; 0: not known
	next   int // that share in percent
	atOnce int // requests in flight that one pod is for
}

// pods has further pods made where so few requests can. That there is one at all
// Knative has to confirm, where it can be asked: whatever is in front of the
// candidate may answer as a pod would.
func (w warmUp) pods(ctx context.Context, read func(context.Context) replicas) (string, error) {
	now := read(ctx)
	wanted := max(now.needs, 1)
	if now.atOnce*(wanted-1)+1 > warmUpMost {
		wanted = 1
	}
	if !now.known || now.has >= wanted {
		return now.String(), nil
	}
	asking, stop := context.WithTimeout(ctx, warmUpPods)
	defer stop()
	var all sync.WaitGroup
	for range now.atOnce*(wanted-1) + 1 {
		all.Go(func() {
			for sleep.For(asking, warmUpPause) == nil {
				w.client.Get(asking, w.url, io.Discard)
			}
		})
	}
	for now.has < wanted && sleep.For(asking, sloInterval) == nil {
		now = read(ctx)
	}
	stop()
	all.Wait()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case now.known && now.has == 0:
		return "", fmt.Errorf("%s answers, but for %s Knative has shown no pod of the candidate: something in front of it answers; choose a path that only the Service answers", requests.Shown(w.url), warmUpPods)
	}
	return now.String(), nil
}

// String says what there is, and what the next share of the traffic needs.
func (r replicas) String() string {
	switch {
	case !r.known:
		return "the candidate answers; how many pods it has is not known"
	case r.needs == 0:
		return fmt.Sprintf("the candidate answers, with %s", podsOf(r.has))
	case r.has >= r.needs:
		return fmt.Sprintf("the candidate answers, with %s; %d %% of the traffic needs %d", podsOf(r.has), r.next, r.needs)
	}
	return fmt.Sprintf("the candidate answers, with %s; %d %% of the traffic needs about %d, which Knative makes when the traffic comes", podsOf(r.has), r.next, r.needs)
}

func podsOf(count int) string {
	if count == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", count)
}
