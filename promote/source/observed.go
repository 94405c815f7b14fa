package source

import (
	"fmt"
	"slices"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/runs"
)

// An Observed is what was seen of a source: the overlay at the tip, and what
// each Application shows that deploys it.
type Observed struct {
	plan.Situation
	apps    []appSeen
	states  map[string]string // of the commit that was live when the last gates had passed, by their names
	claimed string            // what is wrong with the commit that has those
	since   time.Time         // when the first promotion of its images began there; zero: it is not known

	reverted []runs.RevertedRecord // promotions that Git shows no more there
}

// hasReverted tells whether the source is at an earlier promotion again than that of what
// another overlay has, as after a git revert.
func (s Observed) hasReverted(state *knative.State) bool {
	return slices.ContainsFunc(s.reverted, func(r runs.RevertedRecord) bool { return r.Later && r.To.BroughtTo(state, r.From) })
}

// An appSeen is what one Application shows.
type appSeen struct {
	app     argo.App
	verdict argo.Verdict
	seen    argo.Observed
}

// AllMissing is why the images of several sources must not be promoted now, until
// the last of them will be good; nil: they may.
func AllMissing(observed []Observed, w Wants, now time.Time) *NotYetError {
	var all *NotYetError
	for _, s := range observed {
		all = all.And(s.missing(w, now))
	}
	return all
}

// missing is why the images of a source must not be promoted now; nil: they may.
func (s Observed) missing(w Wants, now time.Time) *NotYetError {
	reason := s.unfinished()
	if reason == "" {
		reason = s.notLive()
	}
	if reason == "" {
		reason = s.unchecked(w.Checks)
	}
	if reason != "" {
		return &NotYetError{From: s.Overlay, Reason: reason}
	}
	since := s.Since()
	if good := since.Add(w.Soak); w.Soak > 0 && good.After(now) {
		return &NotYetError{From: s.Overlay, Until: good,
			Reason: fmt.Sprintf("it is good since %s, and soak wants %s", since.UTC().Format(time.RFC3339), w.Soak)}
	}
	return nil
}

// unfinished is what Git says against a source: only a promotion to all of the
// traffic, whose last gates have passed, and which nobody has changed since, is
// one.
func (s Observed) unfinished() string {
	if s.Unreadable != nil {
		return fmt.Sprintf("its record cannot be read: %v", s.Unreadable)
	}
	split, err := s.Split()
	if err != nil {
		return err.Error()
	}
	r := s.Record.Of(s.Place())
	switch {
	case !r.Exists():
		return "nothing was promoted there yet" + onBranch(s.Source.Branch) + ", so no record says that its gates have passed"
	case r.RollsBack():
		return "its last promotion was rolled back, to " + r.RolledBackTo()
	case r.Percent < 100:
		return fmt.Sprintf("a promotion is under way there, %s has %d %% of the traffic", r.To.Revision, r.Percent)
	case !r.HasPassed():
		return fmt.Sprintf("the last gates of %s have not passed yet", r.To.Revision)
	case r.Disagreement(s.Place(), split) != "":
		return fmt.Sprintf("somebody has changed its traffic: the record %s", r.Disagreement(s.Place(), split))
	}
	if made, known, err := s.Now.Made(r.To.Revision); err != nil || known && !made || !r.To.SameImages(s.Now) {
		return fmt.Sprintf("its template was changed since %s was promoted", r.To.Revision)
	}
	return ""
}

// notLive is what the Applications of a source say against it.
func (s Observed) notLive() string {
	if len(s.apps) == 0 {
		return "no Application that the token sees deploys it"
	}
	for _, a := range s.apps {
		if a.verdict.State != argo.Live {
			return fmt.Sprintf("application %s does not show it live: %s", a.app, a.verdict.Reason)
		}
	}
	if s.unlike() {
		return "its Applications run different images under the same tag"
	}
	return ""
}

// Since is from when on the source has been as it is: the last gates had passed,
// by the clock of that run, and the Service has been ready everywhere, by the
// cluster's. A change of the traffic makes it ready anew, so that a revert, which
// brings an earlier record back, begins anew too.
func (s Observed) Since() time.Time {
	since := s.Record.Passed
	for _, a := range s.apps {
		if a.seen.Service == nil {
			continue
		}
		for _, condition := range a.seen.Service.Status.Conditions {
			if at := condition.LastTransitionTime.Inner.Time; at.After(since) {
				since = at
			}
		}
	}
	return since
}

// onBranch names the branch that is looked at, where that is known: an environment
// may have another one, which from-branch names.
func onBranch(branch string) string {
	if branch == "" {
		return ""
	}
	return " on branch " + branch + ", which is looked at (from-branch)"
}
