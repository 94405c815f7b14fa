package promote

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"
	"time"

	"knative.dev/serving/pkg/apis/autoscaling"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/sleep"
	"github.com/acme/knative-promote/promote/requests"
)

const (
	// warmUpPatience is for the first answer, which waits until a pod has started.
	warmUpPatience = 2 * time.Minute
	// warmUpPods is for further pods: the autoscaler looks back over six seconds
	// before it panics, and then a pod has to start
	// (https://knative.dev/docs/serving/autoscaling/kpa-specific/#panic-window).
	warmUpPods = 45 * time.Second
	// warmUpEvery keeps a pod: the autoscaler lets the last one go after a minute
	// without requests.
	warmUpEvery = 10 * time.Second
	// warmUpMost is the most requests that are sent at once to have pods made.
	warmUpMost = 50
	// warmUpPause is between two requests of one of those that send at once.
	warmUpPause = 500 * time.Millisecond
)

// warmUpGate sees to it that the candidate has a pod before it gets traffic, and,
// where requests can bring them up, as many as its next share needs. More than
// the first is told and not promised.
func warmUpGate(p *part, step Step) Gate {
	next, more := p.Config.after(step)
	if p.WarmUp == "" || !more {
		return Gate{}
	}
	return Gate{
		Name:     "warm-up",
		Patience: warmUpPatience + warmUpPods,
		Check: func(ctx context.Context, at *Position) (string, error) {
			url, err := candidateURL(at.Observed.Service, p.CandidateTag, at.Step.Percent)
			if err != nil {
				return "", err
			}
			client := p.Way.Open()
			defer client.Close()
			w := warmUp{client, requests.Address(url, p.WarmUp)}
			if err := w.first(ctx); err != nil {
				return "", err
			}
			return w.pods(ctx, p.replicas(at, next))
		},
	}
}

// after is the share that comes after a step; false: there is none.
func (c Config) after(step Step) (percent int, more bool) {
	for _, s := range c.Steps {
		if s.Percent > step.Percent {
			return s.Percent, true
		}
	}
	return 0, false
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
func (p *part) replicas(at *Position, next int) func(context.Context) replicas {
	namespace := namespaceOf(at.Observed.Service)
	read := func(ctx context.Context, name string) *servingv1.Revision {
		revision, err := p.service.revision(ctx, namespace, name)
		if err != nil {
			p.journal.debug("warm-up: reading revision %s: %v", name, err)
		}
		return revision
	}
	old, share := oldOf(at.Intent, p.plan.To)
	return func(ctx context.Context) replicas {
		r := replicas{next: next, atOnce: warmUpMost}
		candidate := read(ctx, p.plan.To)
		if candidate == nil || candidate.Status.ActualReplicas == nil {
			return r
		}
		r.known, r.has = true, int(*candidate.Status.ActualReplicas)
		if !p.byMetrics() { // which would take them for requests of users
			r.atOnce = requestsAPod(candidate)
		}
		if revision := read(ctx, old); revision != nil && revision.Status.ActualReplicas != nil && share > 0 {
			r.needs = int(math.Ceil(float64(*revision.Status.ActualReplicas) * float64(next) / float64(share)))
		}
		return r
	}
}

// oldOf is the revision with the greatest share of the traffic beside the
// candidate's.
func oldOf(in argo.Intent, candidate string) (name string, share int64) {
	for _, t := range in.Traffic {
		if t.RevisionName != candidate && t.Percent != nil && *t.Percent > share {
			name, share = t.RevisionName, *t.Percent
		}
	}
	return name, share
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

// keepWarm asks the candidates now and then until it is stopped, so that what is
// warm stays so until the next step is live. What they answer is not looked at.
func (r *run) keepWarm(ctx context.Context) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	if r.WarmUp == "" {
		return stop
	}
	for _, p := range r.parts {
		url, err := candidateURL(p.at.Live, p.CandidateTag, 0)
		if err != nil {
			continue // it has all traffic, or none of its own
		}
		go func() {
			client := p.Way.Open()
			defer client.Close()
			for sleep.For(ctx, warmUpEvery) == nil {
				client.Get(ctx, requests.Address(url, p.WarmUp), io.Discard)
			}
		}()
	}
	return stop
}
