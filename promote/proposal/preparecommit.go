package proposal

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/commit"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// A Branch is a branch that takes commits.
type Branch interface {
	Publish(context.Context, gitops.Change) (gitops.Commit, error)
}

// Publish makes one commit of all candidates on the pull request's branch. Where the
// branch shows them there is none to make, and its hash is empty.
func (p Preparation) Publish(ctx context.Context, branch Branch) (commit string, err error) {
	change, any := p.change(ctx)
	if !any {
		return "", nil
	}
	made, err := branch.Publish(ctx, change)
	switch {
	case errors.Is(err, gitops.ErrUnchanged):
		return "", nil
	case err != nil:
		return "", err
	}
	return made.Hash, nil
}

// Files are what the commit would change on the pull request's head, for whoever must
// make it by hand.
func (p Preparation) Files(ctx context.Context, head gitops.Snapshot) (map[string][]byte, error) {
	change, any := p.change(ctx)
	if !any {
		return nil, nil
	}
	return change.Edit(head)
}

func (p Preparation) change(ctx context.Context) (change gitops.Change, any bool) {
	var edits []commit.Edit
	for _, s := range p.made() {
		if s.shown {
			continue
		}
		e := commit.Edit{Subject: plan.Subject(s.Target, "no candidate, as on "+p.pull.Branch)}
		if !s.Withdrawn {
			e.Subject = s.step().Subject
			e.Trailers = plan.Trailers(p.settings.Settings, s.plan, record.StepOf(s.step().Percent), s.plan.From, s.plan.To, p.settings.Reason)
		}
		e.Draft = func(tip gitops.Snapshot) (d commit.Draft, err error) {
			d.Files, err = p.edit(ctx, &s, tip)
			return d, err
		}
		edits = append(edits, e)
	}
	if len(edits) == 0 {
		return gitops.Change{}, false
	}
	return commit.Merge(edits, func(gitops.Snapshot, []commit.Draft) {}), true
}

// step is the commit that a promotion would begin with: the candidate at 0 %, or all
// traffic for the template that has it.
func (s *PreparedService) step() plan.PlannedStep { return s.plan.Steps[0] }

// edit makes the candidate on a tip of the pull request's branch. The tip must have
// the template that is to be merged, and what the branch has written.
func (p Preparation) edit(ctx context.Context, s *PreparedService, tip gitops.Snapshot) (map[string][]byte, error) {
	now, err := knative.Read(ctx, tip.Tree, s.Overlay, s.Service)
	if err != nil {
		return nil, err
	}
	if !now.SameTemplate(s.merged) {
		return nil, p.moved(tip, "the template of %s", s.Service)
	}
	after, err := p.after(ctx, s, now)
	if err != nil {
		return nil, err
	}
	files, err := after.Files()
	if err == nil && len(files) > 0 && !bytes.Equal(ownFile(tip, now), ownFile(p.pull.Merged, s.merged)) {
		return nil, p.moved(tip, "%s", s.merged.RecordFile())
	}
	return files, err
}

// after is the overlay with the candidate, or as the branch has it where that goes.
func (p Preparation) after(ctx context.Context, s *PreparedService, now *knative.State) (*knative.State, error) {
	if s.Withdrawn {
		return now.RestoreRoute(ctx, s.was, s.was.Record())
	}
	text, err := p.recordOf(s)
	if err != nil {
		return nil, err
	}
	return plan.Shift(ctx, p.settings.Settings, s.plan, s.step().Traffic, text, now, now, nil)
}

// recordOf is the record of a candidate. Its author may write anything into the file on that branch, so
// it says nothing but what follows from the branches: no run, and no commit, which is of a merge that no
// branch will have.
func (p Preparation) recordOf(s *PreparedService) ([]byte, error) {
	before, err := record.Parse(s.was.Record())
	if err != nil {
		return nil, err
	}
	c := p.settings.Settings
	c.RunURL, c.Actor, c.Approved, c.Code = "", "", "", record.Code{}
	return plan.StepRecord(c, s.plan, record.StepOf(s.step().Percent), before).Encode()
}

// moved is the error of a tip that is not what the merge was made of. The head of the
// merge is behind the branch; any other tip is newer, and has a run of its own.
func (p Preparation) moved(tip gitops.Snapshot, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if parents := p.pull.Merged.Commit.Parents; len(parents) == 2 && parents[1] == tip.Commit.Hash {
		return fmt.Errorf("branch %s has changed %s since the pull request began: merge it into the pull request's branch, which prepares that again", p.pull.Branch, what)
	}
	return plan.Superseded(tip.Commit, "it changes %s: the run for that commit prepares it", what)
}
