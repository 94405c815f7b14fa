package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
)

// Withdrawn is the revision that was rolled back here last and is to be promoted, or has the
// images that are, in words; empty: there is none, or somebody wants to try it again.
func (i *Taken) Withdrawn(at plan.Situation) string {
	gone := withdrawn(at)
	if gone == "" || !i.TryAgain {
		return gone
	}
	i.Journal.Override([]string{gone + ", with these images, was rolled back here last"}, i.Reason)
	return ""
}

// withdrawn reads the record also where that came here with a copy or a rename of the folder:
// what was rolled back there need not be good here.
func withdrawn(at plan.Situation) string {
	gone := at.Record.Withdrawn(at.Next)
	next, err := at.Next.NextRevision()
	if gone == "" && err == nil && at.Record.Withdrew(next) {
		gone = next // by its configuration, with the images of what stands
	}
	if by := at.TakenAway(); gone == "" && by != "" && (by == next || at.Record.To.BroughtTo(at.Next, at.Record.From)) {
		gone = by
	}
	return gone
}

// notAgain keeps what was rolled back or replaced here from being promoted again by itself,
// as by a workflow that runs every hour.
func (i *Taken) notAgain(at plan.Situation, observed []Observed) error {
	if gone := i.Withdrawn(at); gone != "" {
		return &NotYetError{From: i.Names(), Reason: fmt.Sprintf("%s, with the images that run there, was rolled back here last; to try them again give override: rolled-back and a reason, or promote something newer there", gone)}
	}
	why, instead := i.decided(at, observed)
	if why == "" {
		return nil
	}
	return i.unlessAgain(why, "to promote here what runs there", instead)
}

// unlessAgain refuses for a reason what nobody wants to try again, and says how to go on.
func (i *Taken) unlessAgain(why, to, instead string) error {
	if i.TryAgain {
		i.Journal.Override([]string{why}, i.Reason)
		return nil
	}
	return &NotYetError{From: i.Names(), Reason: fmt.Sprintf("%s; %s give override: rolled-back and a reason, or %s", why, to, instead)}
}

// MayStand refuses to promote an overlay's template as it stands, where that was rolled back and
// could not be taken out of the overlay, or was reverted in Git, as by its steps alone. One that
// is under way goes on, unless its own steps were reverted. A candidate at 0 % is no beginning:
// a pull request's merge may have made it.
func MayStand(ctx context.Context, i *Taken, at plan.Situation, p plan.Plan) error {
	underWay := p.Record.Promotion == p.ID && p.Record.HasBegun()
	gone, how := "", "rolled back"
	if !underWay {
		gone = i.Withdrawn(at)
	}
	if gone == "" {
		var err error
		if gone, err = revertedAsItStands(ctx, i, at, underWay); err != nil {
			return err
		}
		how = "reverted in Git"
	}
	if gone != "" {
		return setting.Bad("image: unchanged: the overlay %s still has what %s was made of, with the image %s, which was %s: expected the image that is to run and the configuration for it, or override: rolled-back and a reason", at.Overlay, gone, p.Image, how)
	}
	if underWay {
		return nil
	}
	return TagAlone(at)
}

// TagAlone refuses to promote an image of which somebody has changed the tag and left the digest
// beside it, which is what Knative pulls.
func TagAlone(at plan.Situation) error {
	for _, is := range knative.AllImages(at.Next) {
		name, tag, digest := kustomize.SplitImage(is)
		for _, was := range at.Record.To.AllImages() {
			if n, t, d := kustomize.SplitImage(was); n == name && d == digest && d != "" && t != tag {
				return setting.Bad("image: unchanged: the overlay %s has the tag %s with the digest of %s, which is what would run: expected the digest of %s, or none", at.Overlay, tag, t, tag)
			}
		}
	}
	return nil
}

// decided is what people have decided for this overlay alone that what the sources have would
// undo, and what they can do instead of promoting that; empty: nothing.
func (i *Taken) decided(at plan.Situation, observed []Observed) (why, instead string) {
	if e, by := replaced(i.From, at); by != "" {
		return "the promotion of " + e + " here was replaced by " + by + " before it had passed", "promote something newer there"
	}
	var since time.Time // when the last source came to its images
	for _, one := range observed {
		if one.hasReverted(at.Now) {
			return "what runs here was reverted in Git in " + one.Overlay, "promote something newer there"
		}
		if one.since.After(since) {
			since = one.since
		}
	}
	if gone := record.WithdrawnConfiguration(at.Record, at.Now); gone != "" && !at.Now.SameTemplate(at.Next) {
		return "the overlay still has the configuration of " + gone + ", which was rolled back here last", "revert the commit that brought it"
	}
	for _, own := range at.Record.OwnImages(i.From) {
		switch current := record.HasImagesOf(at.Record, own); {
		case own.From.BroughtTo(at.Next, own.To):
			return "what has the images that run there was replaced here by " + own.To.Revision, "promote something newer there"
		case current && own.Ended != record.Promoted:
			return "the promotion of " + own.To.Revision + " here, which did not come from there, has not ended", "finish that or roll it back"
		case current && since.Before(own.Passed): // to the second: what began in that one began after it
			return own.To.Revision + " was promoted here, which did not come from there, and nothing newer has begun there since", "promote something newer there"
		}
	}
	if record.SetByHand(at.Record.Of(at.Place()), at.Now) && !record.VersionOf("", at.Next).SameImages(at.Now) {
		return "somebody has set " + plan.FirstImage(at.Now.Images()) + " in " + at.Overlay, "promote that with image: unchanged"
	}
	return "", ""
}

// replaced is the last promotion of what is to be promoted, where somebody has promoted other
// images in its place before it had passed, which they took from no environment of a list;
// empty: nobody has.
func replaced(from []string, at plan.Situation) (revision, by string) {
	entries := at.Record.Entries()
	for n, e := range entries {
		if e.Rollback || !e.To.BroughtTo(at.Next, e.From) {
			continue
		}
		if n == 0 || e.Ended != record.Superseded {
			return "", ""
		}
		other := entries[n-1]
		if other.Rollback || slices.Contains(from, other.TakenFrom) || other.To.BroughtTo(at.Next, other.From) {
			return "", ""
		}
		return e.To.Revision, other.To.Revision
	}
	return "", ""
}

// Complete says in a plan what its images come from: what the run has taken them from, or
// what the promotion under way has, whatever the run names. The error is bad input.
func (i *Taken) Complete(p *plan.Plan, at plan.Situation) error {
	p.Source, p.Code = i.source, i.code
	if has := at.Record.Of(at.Place()); p.Source.IsZero() {
		p.Source, p.Code = has.SourceOf(at.Next), has.Code
	}
	if p.Source.IsZero() || p.Source.Branch == i.branch() || i.TryAgain {
		return nil
	}
	branch := cmp.Or(p.Source.Branch, i.Overlay.Source.Branch)
	return setting.Bad("from-branch: the images of the promotion under way come from %s on branch %s, which tells whether they were rolled back there: expected from: %s and from-branch: %s",
		p.Source.Overlay, branch, p.Source.Overlay, branch)
}

// Stand is why a promotion must not begin on a tip; nil: it may. What the run has looked at
// is not there any more.
func (i *Taken) Stand(ctx context.Context, tip gitops.Snapshot) error {
	if len(i.From) == 0 {
		return nil
	}
	tip, err := i.Tip(ctx, tip)
	if err != nil {
		return err
	}
	for _, overlay := range i.From {
		if err := i.Stands(ctx, tip, i.source.Of(overlay), i.services[overlay]); err != nil {
			return err
		}
	}
	return nil
}

// NotWithdrawn is why a promotion of what a source had must get no more traffic: there it
// was rolled back meanwhile, by its revision or by its images, whose names may be others
// there. Which source it was says the plan, whatever the run names. One that cannot be
// read any more permits nothing.
func (i *Taken) NotWithdrawn(ctx context.Context, tip gitops.Snapshot, p plan.Plan, at plan.Situation) error {
	if p.Source.IsZero() || i.TryAgain {
		return nil
	}
	tip, err := i.Tip(ctx, tip)
	if err != nil {
		return err
	}
	for _, one := range p.Source.All() {
		if err := i.Withdrew(ctx, tip, one, at.Next); err != nil {
			return err
		}
	}
	return nil
}

// Looked tells whether the run has taken the images from somewhere itself.
func (i *Taken) Looked() bool { return len(i.services) > 0 }
