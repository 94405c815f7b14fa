package promote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// Rollback takes the Service back in one commit and without steps: to the
// promotion before, to a named revision or to a commit. It works in the
// middle of a promotion too, whose run then ends as superseded.
func (p *Promotion) Rollback(ctx context.Context) (Result, error) {
	p.begin(commandRollback)
	p.result.Reason = p.Reason
	p.Images = nil
	at, err := p.look(ctx)
	if err != nil && !p.goesOn(err, at) {
		return p.end(Failed, err)
	}
	dest, err := p.target(ctx, at)
	if err != nil {
		return p.end(Failed, err)
	}
	plan, err := p.backPlan(ctx, at, dest)
	if err != nil {
		return p.end(endOf(ctx, err), err)
	}
	if p.DryRun {
		return p.end(Unchanged, nil)
	}
	back, err := p.goTo(ctx, plan, stepRollback, dest, p.Reason, func(now *knative.State) bool { return unchanged(now, at.Now) })
	if err != nil {
		p.current().Progress = Broken
		return p.end(endOf(ctx, err), err)
	}
	switch err := p.confirm(ctx, back); {
	case err != nil && cancelled(ctx):
		return p.end(Cancelled, fmt.Errorf("the commit is made, but the run was cancelled before it was seen live: %w", err))
	case err != nil:
		return p.end(Failed, &RestoreError{Err: err})
	}
	if !p.result.Changed {
		return p.end(Unchanged, nil)
	}
	return p.end(RolledBack, nil)
}

// goesOn tells whether an emergency may pass over what the look at the live
// Service brought: a Service without a ready revision, or an Argo CD that does
// not answer. What is wrong with the inputs or the repository may not.
func (p *Promotion) goesOn(err error, at Situation) bool {
	if at.Now == nil || at.Next == nil || errors.Is(err, argo.ErrAuth) || errors.Is(err, argo.ErrNotFound) || errors.Is(err, context.Canceled) {
		return false
	}
	p.say("going on without the live Service: %v", err)
	return true
}

// endOf is the status of a rollback that could not be committed.
func endOf(ctx context.Context, err error) Status {
	switch {
	case isSuperseded(err):
		return Superseded
	case cancelled(ctx):
		return Cancelled
	}
	return Failed
}

// backPlan notes what a rollback moves in the Result. The overlay that it
// leads to is not the earlier one: the target previous goes, for one.
func (p *Promotion) backPlan(ctx context.Context, at Situation, dest destination) (Plan, error) {
	after, err := p.editBack(ctx, dest, gitops.Snapshot{Commit: at.Tip, Tree: at.Tree}, func(*knative.State) bool { return true })
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Base: at.Tip.Hash, From: dest.revision, To: at.Now.Revision(), now: at.Now}
	plan.ID = id(p.Config, Plan{Base: plan.Base, To: dest.revision})
	r := &p.result
	r.Promotion, r.Revision, r.PreviousRevision = plan.ID, dest.revision, plan.To
	r.Image, r.PreviousImage = headline(dest.state, dest.state), headline(at.Now, at.Now)
	r.Before, r.After, r.Traffic = at.Now.Manifest, after.Manifest, dest.traffic
	if dest.gone {
		gone := fmt.Sprintf("revision %s no longer exists, it is created again from Git", dest.revision)
		r.Reason = strings.TrimPrefix(r.Reason+"; "+gone, "; ")
		p.say("%s", gone)
	}
	return plan, nil
}

// target finds what to go back to.
func (p *Promotion) target(ctx context.Context, at Situation) (destination, error) {
	traffic, err := at.Now.Traffic()
	if err != nil {
		return destination{}, err
	}
	split, err := knative.ReadSplit(traffic, p.CandidateTag)
	if err != nil {
		return destination{}, fmt.Errorf("overlay %s: %w", p.Overlay, err)
	}
	done, err := p.rolledBack(ctx, split)
	switch {
	case err != nil:
		return destination{}, err
	case done != nil:
		p.say("this run has rolled back before, with commit %.10s", done.Hash)
		return p.stand(ctx, done.Hash, split.Stable, split)
	case p.To == "" && split.Candidate != "":
		if err := ownCandidate(at, split); err != nil {
			return destination{}, err
		}
		return p.before(ctx, Plan{Base: at.Past.Trailer(trailerBase), From: split.Stable})
	case p.To == "":
		return p.previous(ctx, split)
	case strings.HasPrefix(p.To, p.Service+"-"):
		return p.revision(ctx, split)
	}
	return p.atCommit(ctx, split)
}

// rolledBack is the rollback of this workflow run's attempt before, if there is
// one and nobody has changed it since. The run must not go back once more:
// without a name for where to, that would be the promotion before.
func (p *Promotion) rolledBack(ctx context.Context, split knative.Split) (*gitops.Commit, error) {
	if p.To != "" || !p.RunAgain {
		return nil, nil
	}
	last, err := p.past(ctx, func(gitops.Commit) bool { return true })
	if err != nil || last == nil || last.Trailer(trailerStep) != stepRollback || !p.attempted(*last) {
		return nil, err
	}
	if split.Stable != last.Trailer(trailerTo) || split.Candidate != "" {
		return nil, nil
	}
	return last, nil
}

// previous is what was there before the promotion that the traffic is at.
func (p *Promotion) previous(ctx context.Context, split knative.Split) (destination, error) {
	past, err := p.past(ctx, func(c gitops.Commit) bool {
		return c.Trailer(trailerTo) == split.Stable && isStep(c) && c.Trailer(trailerBase) != ""
	})
	if err != nil {
		return destination{}, err
	}
	if past == nil {
		return destination{}, fmt.Errorf("no promotion to %s, which has the traffic now, is in the history of %s: name a revision or a commit to roll back to with the input to", orLatest(split.Stable), p.Overlay)
	}
	return p.stand(ctx, past.Trailer(trailerBase), past.Trailer(trailerFrom), split)
}

// revision is a revision by name: as the promotion that made it, or the one
// that replaced it, left it in Git.
func (p *Promotion) revision(ctx context.Context, split knative.Split) (destination, error) {
	var known []string
	past, err := p.past(ctx, func(c gitops.Commit) bool {
		known = append(known, c.Trailer(trailerTo), c.Trailer(trailerFrom))
		return isStep(c) && (c.Trailer(trailerTo) == p.To || c.Trailer(trailerFrom) == p.To)
	})
	if err != nil {
		return destination{}, err
	}
	if past == nil {
		slices.Sort(known)
		return destination{}, fmt.Errorf("to: revision %q is in no promotion of %s; known are %s", p.To, p.Overlay, strings.Join(slices.Compact(known), ", "))
	}
	commit := past.Hash
	if past.Trailer(trailerFrom) == p.To {
		commit = past.Trailer(trailerBase)
	}
	return p.stand(ctx, commit, p.To, split)
}

// atCommit is the overlay of a commit.
func (p *Promotion) atCommit(ctx context.Context, split knative.Split) (destination, error) {
	dest, err := p.stand(ctx, p.To, "", split)
	if err != nil {
		return destination{}, fmt.Errorf("to: %w", err)
	}
	return dest, nil
}

// stand is the overlay of a commit with all traffic on one revision: the named
// one, or the one of the overlay's template.
func (p *Promotion) stand(ctx context.Context, commit, revision string, split knative.Split) (destination, error) {
	then, err := p.History.At(ctx, commit)
	if err != nil {
		return destination{}, err
	}
	state, err := knative.Read(ctx, then.Tree, p.Overlay, p.Service)
	if err != nil {
		return destination{}, fmt.Errorf("at commit %.10s: %w", commit, err)
	}
	if revision == "" {
		revision = state.Revision()
	}
	if revision == "" {
		if revision, err = state.NextRevision(); err != nil {
			return destination{}, err
		}
	}
	live := sync.OnceValues(func() (*servingv1.Revision, error) { return p.liveRevision(ctx, revision) })
	made, err := madeOf(revision, state, live)
	if err != nil {
		return destination{}, err
	}
	_, missing := live()
	split.Stable, split.Candidate, split.Previous = revision, "", ""
	return destination{
		state: state, revision: revision, traffic: split.Targets(p.CandidateTag, false), made: made, gone: errors.Is(missing, argo.ErrNotFound),
	}, nil
}

// isStep tells a promotion's own commits from the ones that took one back.
func isStep(c gitops.Commit) bool { return !takesBack(c.Trailer(trailerStep)) }

func orLatest(revision string) string {
	if revision == "" {
		return "the latest revision"
	}
	return revision
}
