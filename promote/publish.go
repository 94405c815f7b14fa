package promote

import (
	"context"
	"errors"

	"github.com/acme/knative-promote/gitops"
)

// publish commits the i-th step and returns the commit that shows it.
func (r *run) publish(ctx context.Context, plan Plan, i int, at Situation, log stepLog) (string, error) {
	step := plan.Steps[i]
	if step.Done {
		log.committed(plan.tip, true)
		r.journal.traffic(step.Traffic)
		return plan.tip, nil
	}
	commit, err := r.commit(ctx, log, gitops.Change{
		Subject:  step.Subject,
		Trailers: trailers(r.Config, plan, stepOf(step.Percent), plan.From, plan.To, r.Reason),
		Edit: func(tip gitops.Snapshot) (map[string][]byte, error) {
			return editStep(ctx, r.Config, plan, i, tip, at.Live)
		},
	})
	if err == nil {
		r.journal.traffic(step.Traffic)
	}
	return commit, err
}

// commit publishes a change. One that a tip shows already is that tip, and not
// what the branch has come to since.
func (r *run) commit(ctx context.Context, log stepLog, change gitops.Change) (string, error) {
	edit, tip := change.Edit, gitops.Commit{}
	change.Edit = func(on gitops.Snapshot) (map[string][]byte, error) {
		if tip.Hash != "" {
			r.journal.say("the branch has moved to %.10s, making the same edit again", on.Commit.Hash)
		}
		tip = on.Commit
		return edit(on)
	}
	commit, err := r.Branch.Publish(ctx, change)
	if errors.Is(err, gitops.ErrUnchanged) {
		log.committed(tip.Hash, true)
		return tip.Hash, nil
	}
	if err != nil {
		return "", err
	}
	log.committed(commit.Hash, false)
	return commit.Hash, nil
}
