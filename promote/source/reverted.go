package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/runs"
)

// notReverted keeps what was promoted here and reverted in Git from being promoted again by
// itself, unless it was promoted once more and has passed.
func notReverted(ctx context.Context, i *Taken, at plan.Situation) error {
	all, err := revertedIn(ctx, i.Commits, at)
	if err != nil {
		return i.unlessTold("here", err)
	}
	for _, r := range all {
		if r.To.BroughtTo(at.Next, r.From) && !passedAgain(at, r) {
			return i.unlessAgain(r.To.Revision+", with the images that run there, was reverted here in Git", "to try them again", "promote something newer there")
		}
	}
	return nil
}

// unlessTold refuses to promote where nobody can tell what was reverted.
func (i *Taken) unlessTold(where string, err error) error {
	return i.unlessAgain(fmt.Sprintf("nobody can tell what was reverted in Git %s: %v", where, err), "to promote without knowing", "start the run again later")
}

// NotTakenOut ends a run whose own promotion somebody has taken out of Git. Where nobody can tell,
// it goes on only by override.
func NotTakenOut(ctx context.Context, i *Taken, at plan.Situation, run string) error {
	if i.Commits == nil {
		return nil
	}
	if err := runs.TakenOut(ctx, i.Commits, at, run, false); err != nil {
		return err
	}
	err := runs.TakenOutBehind(ctx, i.Commits, at, run)
	if err == nil || errors.Is(err, plan.ErrSuperseded) || ctx.Err() != nil {
		return err
	}
	return i.unlessAgain(fmt.Sprintf("nobody can tell whether this run's own commits were taken out of Git: %v", err), "to go on without knowing", "start the run again later")
}

// passedAgain tells whether what was reverted was promoted once more and has passed.
func passedAgain(at plan.Situation, r runs.RevertedRecord) bool {
	return slices.ContainsFunc(at.Record.Entries(), func(e record.Entry) bool {
		return e.Ended == record.Promoted && e.Started.After(r.Started) && e.To.BroughtTo(at.Next, e.From)
	})
}

// revertedIn are the promotions of an overlay that Git shows no more, or less of, as far as
// anybody can tell.
func revertedIn(ctx context.Context, commits runs.Commits, at plan.Situation) ([]runs.RevertedRecord, error) {
	if commits == nil {
		return nil, nil
	}
	return runs.Reverted(ctx, commits, at)
}

// stepsReverted tells whether somebody has reverted steps of the promotion that is under way.
func stepsReverted(ctx context.Context, commits runs.Commits, at plan.Situation) (bool, error) {
	all, err := revertedIn(ctx, commits, at)
	return slices.ContainsFunc(all, func(r runs.RevertedRecord) bool { return r.Promotion == at.Record.Promotion }), err
}

// revertedAsItStands is the revision that had users, was reverted in Git, and that an overlay
// still makes, or has the images of; a candidate that a pull request has prepared again was not.
// Empty: there is none, or somebody wants to try it again.
func revertedAsItStands(ctx context.Context, i *Taken, at plan.Situation, underWay bool) (string, error) {
	all, err := revertedIn(ctx, i.Commits, at)
	if err != nil && !i.TryAgain {
		return "", fmt.Errorf("image: unchanged: looking for what was reverted here in Git, to go on without that give override: rolled-back and a reason: %w", err)
	}
	next, err := at.Next.NextRevision()
	for _, r := range all {
		is := r.Promotion == at.Record.Promotion
		if !underWay { // one of its configuration alone has the images of what was good before
			brought := r.To.BroughtTo(at.Next, r.From) && !r.From.BroughtTo(at.Next, r.To)
			is = r.Reached > 0 && (err == nil && r.To.Revision == next || brought) && !passedAgain(at, r)
		}
		if !is {
			continue
		}
		if !i.TryAgain {
			return r.To.Revision, nil
		}
		i.Journal.Override([]string{r.To.Revision + ", with these images, was reverted here in Git"}, i.Reason)
		break
	}
	return "", nil
}
