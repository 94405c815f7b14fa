package source

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/overlay"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// unproven is why nothing shows that a source was good with the images that an overlay has now, at the commit that its record
// names; empty: the source's record has that promotion, which has passed with these images so long ago as is wanted, and with
// the checks. Whatever commit is named, anybody may have made. What is told later, as it was taken out of Git there or is on
// another branch than is looked at, is not told here, unless what was rolled back may be promoted again.
func unproven(ctx context.Context, i *Taken, s record.Source, at plan.Situation) string {
	if s.Branch != i.branch() {
		if i.TryAgain {
			return fmt.Sprintf("from-branch is %q", i.FromBranch)
		}
		return ""
	}
	tip, err := i.Tip(ctx, at.Snapshot())
	if err != nil {
		return nobodyCanTell(err)
	}
	reason := unprovenBy(ctx, i, tip, s, at)
	if reason != "" && !i.TryAgain && i.Withdrew(ctx, tip, s, at.Now) != nil {
		return ""
	}
	return reason
}

// unprovenBy tells the same by the tip that has the sources.
func unprovenBy(ctx context.Context, i *Taken, tip gitops.Snapshot, s record.Source, at plan.Situation) string {
	of, now, err := i.read(ctx, tip, s.Overlay)
	if err != nil {
		return nobodyCanTell(err)
	}
	then, err := of.At(ctx, s.Commit)
	if err != nil {
		return nobodyCanTell(err)
	}
	was, err := record.Parse(then.Record())
	if err != nil {
		return nobodyCanTell(err)
	}
	now.Record = further(ctx, of, now, func(r record.Record) bool { return record.Position(r, was.Promotion) >= 0 })
	n := record.Position(now.Record, was.Promotion)
	switch {
	case n < 0:
		return "its record has no promotion of them"
	case !hasImages(at, then):
		return "it did not have them"
	}
	until := time.Now()
	if n > 0 {
		until = now.Record.Entries()[n-1].Started
	}
	switch e := now.Record.Entries()[n]; {
	case !e.To.SameImages(then), e.To.Revision != s.Revision:
		return "it did not have them"
	case e.Ended != record.Promoted || until.Sub(e.Passed) < i.Soak:
		return "it was not good with them for long enough"
	}
	if n == 0 {
		return uncheckedThen(ctx, i, of, now.Record) // and not what anybody has made of it
	}
	if len(i.Checks) == 0 {
		return ""
	}
	if on, err := i.Has.known(ctx, s.Commit); !on {
		return nobodyCanTell(cmp.Or(err, fmt.Errorf("no commit %.10s is found on the branch, whose record names the commit that has the statuses", s.Commit)))
	}
	return uncheckedThen(ctx, i, of, was)
}

func nobodyCanTell(err error) string { return fmt.Sprintf("nobody can tell: %v", err) }

// uncheckedThen is which of the checks has no success on the commit that a record of before was live at; empty: all have.
func uncheckedThen(ctx context.Context, i *Taken, of overlay.Reader, was record.Record) (reason string) {
	one := Observed{Situation: plan.Situation{Record: was}}
	if err := one.askChecks(ctx, i.Reader, of); err != nil {
		return nobodyCanTell(err)
	}
	return one.unchecked(i.Checks)
}

// hasImages tells whether an overlay has the images that a source had: of the tag, and of the digest where Git has that there. Their names
// may be those that the overlay had before, as of another registry.
func hasImages(at plan.Situation, then *knative.State) bool {
	pairs, err := knative.Pairs(at.Now, then)
	if err != nil {
		return false
	}
	names := map[string]bool{}
	for _, image := range at.Record.From.AllImages() {
		name, _, _ := kustomize.SplitImage(image)
		names[name] = true
	}
	here, there := knative.AllImages(at.Now), knative.AllImages(then)
	for n, match := range pairs {
		if match < 0 {
			return false
		}
		name, tag, digest := kustomize.SplitImage(here[n])
		nameThere, tagThere, digestThere := kustomize.SplitImage(there[match])
		if name != nameThere && !names[name] || tag != tagThere || digestThere != "" && digest != digestThere {
			return false
		}
	}
	return true
}
