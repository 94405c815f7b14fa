package source

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/runs"
)

// Taken are the images of one target by where they are taken from, which is said at each
// later commit too: whether they may still be promoted there. Without environments to take
// them from they are those that the run was given.
type Taken struct {
	Reader
	TryAgain bool   // what was rolled back may be promoted again
	Reason   string // for that
	Journal  *journal.Journal
	Commits  runs.Commits // of the infra repository; nil: nobody can tell what was reverted there

	source   record.Source
	code     record.Code       // what they were made of
	services map[string]string // the Service's names there, by the overlays; none: the run has not looked there
}

// Names are the environments in a sentence.
func (i *Taken) Names() string { return strings.Join(i.From, " and ") }

// Resume goes on with what an earlier run has taken, where that is under way in a situation, or with nothing, where images are
// taken from nowhere; false: it is not, or somebody has taken its traffic away or reverted its steps. What the sources' own
// records do not have is a [NotYetError]: whoever may write this one may not write those. Where what was rolled back may be
// promoted again, they are asked anew.
func (i *Taken) Resume(ctx context.Context, at plan.Situation) (bool, error) {
	if len(i.From) == 0 {
		return true, nil
	}
	r := at.Record.Of(at.Place())
	if !r.TakesFrom(i.From, at.Now) || at.TakenAway() != "" {
		return false, nil
	}
	switch reverted, err := stepsReverted(ctx, i.Commits, at); {
	case err != nil:
		return false, i.unlessTold("here", err)
	case reverted:
		return false, nil
	}
	for _, s := range r.Source.All() {
		switch reason := unproven(ctx, i, s, at); {
		case reason != "" && i.TryAgain:
			i.Journal.Say("from: the record says that the images are of %s at %.10s, and %s: it is asked anew", s.Overlay, s.Commit, reason)
			return false, nil
		case reason != "":
			return false, &NotYetError{From: s.Overlay, Reason: fmt.Sprintf("the record here says that the images are those of commit %.10s there, and %s; "+
				"to take them out of the traffic: rollback, and to take what runs there now instead give override: rolled-back and a reason", s.Commit, reason)}
		}
	}
	i.source = r.Source
	i.Journal.Tell(event.TakenFrom{Source: i.source})
	i.Journal.Say("from: the promotion of what %s had at %.10s is under way and goes on", i.Names(), r.Source.Commit)
	return true, nil
}

// Take sets the images of a situation to those that run in the environments, once: a
// [NotYetError] says that they are not to be taken yet.
func (i *Taken) Take(ctx context.Context, tip gitops.Snapshot, at *plan.Situation) error {
	tip, err := i.Tip(ctx, tip)
	if err != nil {
		return err
	}
	var observed []Observed
	for _, from := range i.From {
		one, err := i.See(ctx, tip, from)
		if err != nil {
			return err
		}
		observed = append(observed, one)
	}
	missing := AllMissing(observed, i.Wants, time.Now())
	if missing != nil {
		i.Journal.Tell(event.SourceNotBefore{Time: missing.Until})
		return missing
	}
	if at.Images, err = ImagesOfAll(observed, at.Now); err != nil {
		return err
	}
	i.note(observed, tip.Commit.Hash)
	if at.Next, err = plan.WithImages(ctx, at.Now, at.Images); err != nil {
		return err
	}
	before, seen, err := whole(ctx, i, *at, observed)
	if err != nil {
		return err
	}
	if err := i.notAgain(before, seen); err != nil {
		return err
	}
	if err := notReverted(ctx, i, *at); err != nil {
		return err
	}
	return i.tellDrift(ctx, *at, observed)
}

// whole is the situation and what was observed with records that tell when each one's images
// began, as far as Git has that, also by what was reverted.
func whole(ctx context.Context, i *Taken, at plan.Situation, observed []Observed) (plan.Situation, []Observed, error) {
	since := func(r record.Record) bool { return !r.ImagesSince().IsZero() }
	if at.Record.Of(at.Place()).Exists() { // else it came with a copy, and is read as it stands
		at.Record = further(ctx, i.Overlay, at, since)
	}
	observed = slices.Clone(observed)
	for n, one := range observed {
		one.Record = further(ctx, i.of(one.Overlay), one.Situation, since)
		one.since = one.Record.ImagesSince()
		var err error
		if one.reverted, err = revertedIn(ctx, i.Commits, one.Situation); err != nil {
			if err := i.unlessTold("in "+one.Overlay, err); err != nil {
				return at, nil, err
			}
		}
		for _, r := range one.reverted {
			if r.To.BroughtTo(one.Now, r.From) && r.Started.Before(one.since) {
				one.since = r.Started
			}
		}
		observed[n] = one
	}
	return at, observed, nil
}

// note notes what the images are taken from: the sources as a commit shows them.
func (i *Taken) note(observed []Observed, commit string) {
	i.source, i.services = record.Source{}, map[string]string{}
	for n, s := range observed {
		one := record.Source{Overlay: s.Overlay, Branch: i.branch(), Commit: commit, Revision: s.Record.To.Revision}
		if n == 0 {
			i.source, i.code = one, s.Record.Code
		} else {
			i.source.With = append(i.source.With, one)
		}
		i.services[s.Overlay] = s.Service
		i.Journal.Say("from: %s runs %s at %.10s, good since %s", one.Overlay, one.Revision, commit, s.Since().UTC().Format(time.RFC3339))
	}
	i.Journal.Tell(event.TakenFrom{Source: i.source})
}

// AsThen tells whether sources are what they were when another run took the same from them:
// each rendered the same there, and had the same record. A commit that the sources' branch has
// not is not looked at: anybody may have pushed it.
func AsThen(ctx context.Context, s Reader, now, then record.Source) bool {
	return slices.EqualFunc(now.All(), then.All(), func(is, was record.Source) bool {
		if is.Overlay != was.Overlay || is.Branch != was.Branch || is.Revision != was.Revision {
			return false
		}
		if on, err := s.Has.known(ctx, was.Commit); err != nil || !on {
			return false
		}
		of := s.of(is.Overlay)
		a, unread := of.At(ctx, is.Commit)
		b, unreadThen := of.At(ctx, was.Commit)
		return unread == nil && unreadThen == nil && bytes.Equal(a.Manifest, b.Manifest) && bytes.Equal(a.Record(), b.Record())
	})
}

// branch has the sources; empty: the target's own has.
func (i *Taken) branch() string {
	if i.FromBranch == i.Overlay.Source.Branch {
		return ""
	}
	return i.FromBranch
}

// tellDrift says what configuration the sources have and the target has not, and
// keeps the promotion from beginning where that is asked for.
func (i *Taken) tellDrift(ctx context.Context, at plan.Situation, observed []Observed) error {
	var all *NotYetError
	var drifts []event.Drift
	for _, one := range observed {
		d, unknown := i.Drift(ctx, one, at.Record.Of(at.Place()).Source.Of(one.Overlay), at.Now)
		if err := ctx.Err(); err != nil {
			return err
		}
		if unknown != nil {
			i.Journal.Say("from: what has changed in %s since the last promotion is not known: %v", d.From, unknown)
			all = all.And(&NotYetError{From: d.From, Reason: fmt.Sprintf("what has changed there since the last promotion is not known (on-config-drift is fail; with warn one promotion can go on): %v", unknown)})
		}
		lines := d.Words()
		if len(lines) == 0 {
			continue
		}
		drifts = append(drifts, d)
		all = all.And(drifted(d.From, lines))
	}
	i.Journal.Tell(event.Drifted{All: drifts})
	if i.OnDrift != DriftFail || all == nil {
		return nil
	}
	return all
}

// drifted is the error of what drifts, where that is not to be.
func drifted(from string, lines []string) *NotYetError {
	reason := fmt.Sprintf("it has configuration that is not so here (on-config-drift is fail): %s", lines[0])
	if more := len(lines) - 1; more > 0 {
		reason += fmt.Sprintf("; and %d more, which the log has", more)
	}
	return &NotYetError{From: from, Reason: reason}
}
