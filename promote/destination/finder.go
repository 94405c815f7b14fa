package destination

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"knative.dev/serving/pkg/apis/serving"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/overlay"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
)

// A Finder finds where a target can be rolled back to.
type Finder struct {
	At           plan.Situation // of the target
	Overlay      overlay.Reader
	Live         live.Service
	Has          func(ctx context.Context, commit string) (bool, error) // tells which commits the branch has had; nil: nobody can
	To           string                                                 // a revision or a commit that somebody names; empty: the promotion before
	KeepPrevious bool                                                   // keep the old revision at 0 % under the tag `previous`
	Journal      *journal.Journal
}

// Find finds what a rollback leads to.
func (f Finder) Find(ctx context.Context, split knative.Split) (plan.Destination, error) {
	switch {
	case strings.HasPrefix(f.To, f.At.Service+"-"):
		return f.Revision(ctx, f.To, split)
	case f.To != "":
		return f.atCommit(ctx, split)
	case f.At.Unreadable != nil:
		return plan.Destination{}, fmt.Errorf("%w; or name where to roll back to with the input to", record.Unreadable(f.At.Now, f.At.Unreadable))
	case split.Candidate != "":
		if err := plan.OwnCandidate(f.At, split); err != nil {
			return plan.Destination{}, fmt.Errorf("%w; or name where to roll back to with the input to", err)
		}
		dest, err := f.Before(ctx, plan.Plan{Target: f.At.Target, ID: f.At.Record.Promotion, Base: f.At.Record.Base, FromVersion: f.At.Record.From, Now: f.At.Now, Record: f.At.Record}, f.At.Live)
		if down := f.why(ctx, dest); err == nil && down != "" {
			f.Journal.Say("not rolling back to %s", down)
			return f.LastGood(ctx, dest.Revision, split, down)
		}
		return dest, err
	}
	return f.Previous(ctx, split)
}

// Previous is what was there before the promotion that the traffic is f.At.
func (f Finder) Previous(ctx context.Context, split knative.Split) (plan.Destination, error) {
	if words := f.At.Record.Disagreement(f.At.Place(), split); f.At.Record.Exists() && words != "" {
		return plan.Destination{}, fmt.Errorf("%w; or name where to roll back to with the input to", record.Disagrees(f.At.Now, f.At.Place(), f.At.Record, words, split))
	}
	if f.At.OldReadiness.Down() {
		return f.LastGood(ctx, split.Stable, split, split.Stable+", which "+f.At.OldReadiness.Why)
	}
	return f.LastGood(ctx, split.Stable, split)
}

// LastGood is the newest version that had all traffic before a revision, and had
// passed. One that is not Ready now is passed over, as were those that down names:
// Knative would route nothing to it.
func (f Finder) LastGood(ctx context.Context, revision string, split knative.Split, down ...string) (plan.Destination, error) {
	versions, sure := record.Earlier(f.At.Record.Entries(), f.At.Record.Cut, revision) // the record agrees, so it is of this overlay
	for _, e := range versions {
		dest := f.allTo(ctx, e.From, e.Base, split)
		why := f.why(ctx, dest)
		if why == "" {
			return dest, nil
		}
		down = append(down, why)
		f.Journal.Say("not rolling back to %s", why)
	}
	switch {
	case !sure:
		return plan.Destination{}, setting.Bad("what had the traffic before %s is longer ago than the record of %s goes, which has the last %d promotions and rollbacks: name a revision or a commit to roll back to with the input to",
			knative.OrLatest(revision), f.At.Overlay, len(f.At.Record.Entries()))
	case len(down) > 0:
		return plan.Destination{}, fmt.Errorf("nothing to roll back to: not to %s; the record of %s has no other version that was good before: promote an image that is good, also that of a revision that is not Ready any more, with an annotation more in its template, as that makes another revision; or name a revision or a commit with the input to",
			strings.Join(down, ", nor to "), f.At.Overlay)
	}
	return plan.Destination{}, setting.Bad("nothing to roll back to: the record of %s has no version before %s that was good: name a revision or a commit to roll back to with the input to",
		f.At.Overlay, knative.OrLatest(revision))
}

// why says in words that a version must not have the traffic again; empty: it may.
func (f Finder) why(ctx context.Context, dest plan.Destination) string {
	return cmp.Or(dest.WhyDown(), dest.WhyNotAgain(ctx, f.At.Now, f.At.Record))
}

// Revision is a revision by name: as the record has it, or as it is in the
// cluster. It must have had the traffic, or be ready.
func (f Finder) Revision(ctx context.Context, name string, split knative.Split) (plan.Destination, error) {
	entries := f.At.Record.Of(f.At.Place()).Entries()
	to, base := record.Version{Revision: name}, ""
	if i := slices.IndexFunc(entries, func(e record.Entry) bool { return e.From.Revision == name }); i >= 0 {
		to, base = entries[i].From, entries[i].Base
	} else if i := slices.IndexFunc(entries, func(e record.Entry) bool { return e.To.Revision == name }); i >= 0 {
		to = entries[i].To
	}
	dest := f.allTo(ctx, to, base, split)
	switch {
	case hadTraffic(entries, name):
		return dest, nil
	case len(to.Images) > 0:
		return dest, f.tellUntried(dest)
	}
	if dest.Found == nil || dest.Found.Labels[serving.ServiceLabelKey] != f.At.Service {
		return dest, setting.Bad("to: revision %q is not in the record of %s, nor in the cluster; known are %s; a commit can be named too", name, f.At.Overlay, strings.Join(record.Known(entries), ", "))
	}
	dest.Version = record.VersionOfLive(dest.Found)
	return dest, f.tellUntried(dest)
}

// tellUntried warns of a revision that somebody names and that never had all traffic
// here, so that no gate has passed for it. One that was never ready is refused.
func (f Finder) tellUntried(dest plan.Destination) error {
	err := dest.WasReady(false)
	if err == nil {
		f.Journal.Warn(untried(f.At, dest.Revision))
	}
	return err
}

// untried says of a revision that the record of this overlay tells nothing good of. One that was
// moved here with its folder, or copied, may: it is told, and decides nothing.
func untried(at plan.Situation, revision string) string {
	if of := record.Elsewhere(at.Record, at.Place()); at.Record.Exists() && of != "" && hadTraffic(at.Record.Entries(), revision) {
		return fmt.Sprintf("the record which says that revision %s had all traffic, and had passed, is of %s: this rollback asks no gate but that it is live", revision, of)
	}
	if at.Unreadable != nil {
		return fmt.Sprintf("the record cannot be read, so that nothing says whether revision %s ever had all traffic here: this rollback asks no gate but that it is live", revision)
	}
	return fmt.Sprintf("nothing in the record says that revision %s ever had all traffic here: no gate has passed for it, and a rollback asks none but that it is live", revision)
}

// hadTraffic tells whether a record says of a revision that it had the traffic.
// What a rollback left need not have: that may be a candidate that never got ready.
func hadTraffic(entries []record.Entry, revision string) bool {
	return slices.ContainsFunc(entries, func(e record.Entry) bool {
		return e.From.Revision == revision && !e.Rollback || e.To.Revision == revision && (e.Ended == record.Promoted || e.Rollback)
	})
}

// atCommit is what had the traffic in a commit, and had passed: not a candidate
// that had a share of it, nor a template whose revision had none.
func (f Finder) atCommit(ctx context.Context, split knative.Split) (plan.Destination, error) {
	commit, err := commitNamed(f.At.Record, f.To)
	if err != nil {
		return plan.Destination{}, err
	}
	state, err := f.Overlay.At(ctx, commit)
	if err != nil {
		return plan.Destination{}, fmt.Errorf("to: %w", err)
	}
	then, err := f.splitOf(state)
	if err != nil {
		return plan.Destination{}, setting.Bad("to: at commit %.10s: %w; expected one in which one revision has the traffic, or the revision itself", commit, err)
	}
	revision := then.Stable
	if revision == "" {
		if revision, err = f.madeOf(ctx, state); err != nil {
			return plan.Destination{}, err
		}
	} else if made, _, err := state.Made(revision); revision != state.Revision() || err != nil || !made {
		return f.Revision(ctx, revision, split) // whose template this may be by its name, and by nothing else
	}
	if f.At.Record.NeverPassed(state.Record()) {
		return plan.Destination{}, setting.Bad("to: %.10s: the promotion to %s, which has the traffic in that commit, has never passed its gates: expected a commit of one that has; to have it all the same, name the revision",
			commit, revision)
	}
	dest := f.allTo(ctx, record.VersionOf(revision, state), "", split)
	dest.State = state
	err = cmp.Or(dest.WasReady(true), f.wasRecorded(dest, commit))
	if err == nil && !hadTraffic(f.At.Record.Of(f.At.Place()).Entries(), revision) { // whatever that commit's own record says
		err = f.tellUntried(dest)
	}
	if err == nil && !f.trusts(ctx, commit) {
		dest.State = nil
	}
	return dest, err
}

// madeOf is the revision that had the traffic in a commit in which Knative gave revisions their
// names: one of the record with such a name that fits the template there, or that nobody can
// look at now, or one that the cluster has; else the one that the template would make.
func (f Finder) madeOf(ctx context.Context, state *knative.State) (string, error) {
	for _, e := range f.At.Record.Of(f.At.Place()).Entries() {
		if _, own, err := state.Made(e.From.Revision); own || err != nil || e.Rollback || !e.From.SameImages(state) {
			continue
		}
		found, err := f.Live.Find(ctx, f.At.Live, e.From.Revision)
		fits := err != nil && !errors.Is(err, argo.ErrNotFound)
		if err == nil {
			fits, _ = state.Fits(found, f.At.Live) // what cannot be read does not fit
		}
		if fits {
			return e.From.Revision, nil
		}
	}
	for _, name := range f.generated() {
		found, err := f.Live.Revision(ctx, live.NamespaceOf(f.At.Live), name)
		if err != nil || !found.IsReady() {
			continue // it is one of those that Knative has collected, or nobody can tell
		}
		if fits, err := state.Fits(found, f.At.Live); err == nil && fits {
			return name, nil
		}
	}
	return state.NextRevision()
}

// generatedMost is how many names are tried: Knative keeps as many revisions without traffic
// by its own defaults.
const generatedMost = 20

// generated are the last names that Knative may have given revisions of the Service, the newest
// first: those up to the last one that anybody knows of.
func (f Finder) generated() (names []string) {
	known := record.Known(f.At.Record.Of(f.At.Place()).Entries())
	if f.At.Live != nil {
		known = append(known, f.At.Live.Status.LatestCreatedRevisionName, f.At.Live.Status.LatestReadyRevisionName)
	}
	last := 0
	for _, name := range known {
		number, of := strings.CutPrefix(name, f.At.Service+"-")
		if n, err := strconv.Atoi(number); of && len(number) == len("00001") && err == nil {
			last = max(last, n)
		}
	}
	for n := last; n > max(0, last-generatedMost); n-- {
		names = append(names, fmt.Sprintf("%s-%05d", f.At.Service, n))
	}
	return names
}

var (
	fullCommit  = regexp.MustCompile(`^[0-9a-fA-F]{40}$`)
	shortCommit = regexp.MustCompile(`^[0-9a-fA-F]{7,39}$`)
)

// commitNamed is the full name of one that a user names: that, or the beginning of
// one that the record has.
func commitNamed(r record.Record, name string) (string, error) {
	if fullCommit.MatchString(name) {
		return name, nil
	}
	for _, e := range r.Entries() {
		if shortCommit.MatchString(name) && strings.HasPrefix(e.Base, strings.ToLower(name)) {
			return e.Base, nil
		}
	}
	return "", setting.Bad("to: %q: expected a revision of the record, which are %s, or a commit by its full name of 40 hexadecimal digits, as git rev-parse prints it",
		name, strings.Join(record.Known(r.Entries()), ", "))
}

// allTo is a version with all traffic, and the overlay of the commit that had
// it, where there is one that can be read and shows it.
func (f Finder) allTo(ctx context.Context, to record.Version, base string, split knative.Split) plan.Destination {
	split.Stable, split.Candidate, split.Previous = to.Revision, "", ""
	dest := plan.Destination{Version: to, Base: base, Traffic: split.Targets(f.At.Tag, false), Service: f.At.Live}
	dest.Found, dest.Missing = f.Live.Find(ctx, f.At.Live, to.Revision)
	if base != "" {
		dest.State, _ = f.baseOf(ctx, base, to)
	}
	return dest
}
