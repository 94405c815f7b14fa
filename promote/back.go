package promote

import (
	"context"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// goingBack is one commit that takes something back.
type goingBack struct {
	plan      Plan
	step      string // restore or rollback
	dest      destination
	live      *servingv1.Service // as last seen; nil: it was not
	reason    string
	mayChange func(now *knative.State, record Record) bool // whether what a tip shows is there to be taken back
}

// goTo commits a destination and says what must become true.
func (r *run) goTo(ctx context.Context, back goingBack) (*Position, stepLog, error) {
	back.plan.Image = firstOf(back.dest.Images)
	title := subject(r.Target, "back to "+short(r.Service, back.dest.Revision)+" ("+version(back.plan.Image)+")")
	log := r.journal.beginBack(back.step, title)
	var after edited
	commit, err := r.commit(ctx, log, gitops.Change{
		Subject:  title,
		Trailers: trailers(r.Config, back.plan, back.step, back.plan.To, back.dest.Revision, back.reason),
		Edit: func(tip gitops.Snapshot) (files map[string][]byte, err error) {
			if after, err = editBack(ctx, r.Config, back, tip); err != nil {
				return nil, err
			}
			r.journal.warn(after.warning(back.dest))
			return after.state.Files()
		},
	})
	if err != nil {
		log.unseen()
		return nil, log, err
	}
	position, err := r.positionOf(commit, back.step, after)
	return position, log, err
}

// positionOf is where the gates are asked of a commit that took something back.
func (r *run) positionOf(commit, step string, after edited) (*Position, error) {
	traffic, err := after.state.Traffic()
	if err != nil {
		return nil, err
	}
	r.journal.traffic(traffic)
	record, _ := parseRecord(after.state.Record()) // without one the fields tell
	want := expected{
		Version: versionOf(after.state.Revision(), after.state), promotion: record.Promotion, step: record.Step,
		traffic: traffic, trafficOnly: after.refused != nil,
	}
	return &Position{Step: PlannedStep{Name: step, Percent: 100}, Commit: commit, Intent: r.infra.intent(commit, want), promotion: record.Promotion}, nil
}
