package promote

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"knative.dev/serving/pkg/apis/serving"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
)

// rollbackTo finds what a rollback leads to.
func (p *targetRun) rollbackTo(ctx context.Context, at plan.Situation, split knative.Split) (plan.Destination, error) {
	switch {
	case strings.HasPrefix(p.To, p.Service+"-"):
		return p.revision(ctx, at, p.To, split)
	case p.To != "":
		return p.atCommit(ctx, at, split)
	case at.Unreadable != nil:
		return plan.Destination{}, fmt.Errorf("%w; or name where to roll back to with the input to", record.Unreadable(at.Now, at.Unreadable))
	case split.Candidate != "":
		if err := plan.OwnCandidate(at, split); err != nil {
			return plan.Destination{}, fmt.Errorf("%w; or name where to roll back to with the input to", err)
		}
		dest, err := p.before(ctx, plan.Plan{Target: at.Target, ID: at.Record.Promotion, Base: at.Record.Base, FromVersion: at.Record.From, Now: at.Now, Record: at.Record}, at.Live)
		if down := dest.WhyDown(); err == nil && down != "" {
			p.journal.Say("not rolling back to %s", down)
			return p.lastGood(ctx, at, dest.Revision, split, down)
		}
		return dest, err
	}
	return p.previous(ctx, at, split)
}

// previous is what was there before the promotion that the traffic is at.
func (p *targetRun) previous(ctx context.Context, at plan.Situation, split knative.Split) (plan.Destination, error) {
	if words := at.Record.Disagreement(p.Place(), split); at.Record.Exists() && words != "" {
		return plan.Destination{}, fmt.Errorf("%w; or name where to roll back to with the input to", record.Disagrees(at.Now, p.Place(), at.Record, words, split))
	}
	if at.OldReadiness.Down() {
		return p.lastGood(ctx, at, split.Stable, split, split.Stable+", which "+at.OldReadiness.Why)
	}
	return p.lastGood(ctx, at, split.Stable, split)
}

// lastGood is the newest version that had all traffic before a revision, and had
// passed. One that is not Ready now is passed over, as were those that down names:
// Knative would route nothing to it.
func (p *targetRun) lastGood(ctx context.Context, at plan.Situation, revision string, split knative.Split, down ...string) (plan.Destination, error) {
	versions, sure := record.Earlier(at.Record.Entries(), at.Record.Cut, revision) // the record agrees, so it is of this overlay
	for _, e := range versions {
		dest := p.allTo(ctx, at, e.From, e.Base, split)
		why := dest.WhyDown()
		if why == "" {
			return dest, nil
		}
		down = append(down, why)
		p.journal.Say("not rolling back to %s", why)
	}
	switch {
	case !sure:
		return plan.Destination{}, setting.Bad("what had the traffic before %s is longer ago than the record of %s goes, which has the last %d promotions and rollbacks: name a revision or a commit to roll back to with the input to",
			knative.OrLatest(revision), p.Overlay, len(at.Record.Entries()))
	case len(down) > 0:
		return plan.Destination{}, fmt.Errorf("nothing to roll back to: not to %s; the record of %s has no other version that was good before: promote an image that is good, or name a revision or a commit with the input to",
			strings.Join(down, ", nor to "), p.Overlay)
	}
	return plan.Destination{}, setting.Bad("nothing to roll back to: the record of %s has no version before %s that was good: name a revision or a commit to roll back to with the input to",
		p.Overlay, knative.OrLatest(revision))
}

// revision is a revision by name: as the record has it, or as it is in the
// cluster. It must have had the traffic, or be ready.
func (p *targetRun) revision(ctx context.Context, at plan.Situation, name string, split knative.Split) (plan.Destination, error) {
	entries := at.Record.Of(p.Place()).Entries()
	to, base := record.Version{Revision: name}, ""
	if i := slices.IndexFunc(entries, func(e record.Entry) bool { return e.From.Revision == name }); i >= 0 {
		to, base = entries[i].From, entries[i].Base
	} else if i := slices.IndexFunc(entries, func(e record.Entry) bool { return e.To.Revision == name }); i >= 0 {
		to = entries[i].To
	}
	dest := p.allTo(ctx, at, to, base, split)
	switch {
	case hadTraffic(entries, name):
		return dest, nil
	case len(to.Images) > 0:
		return dest, p.tellUntried(dest)
	}
	if dest.Found == nil || dest.Found.Labels[serving.ServiceLabelKey] != p.Service {
		return dest, setting.Bad("to: revision %q is not in the record of %s, nor in the cluster; known are %s; a commit can be named too", name, p.Overlay, strings.Join(record.Known(entries), ", "))
	}
	dest.Version = record.VersionOfLive(dest.Found)
	return dest, p.tellUntried(dest)
}

// tellUntried warns of a revision that somebody names and that never had all traffic
// here, so that no gate has passed for it. One that was never ready is refused.
func (p *targetRun) tellUntried(dest plan.Destination) error {
	err := dest.WasReady(false)
	if err == nil {
		p.journal.Warn(fmt.Sprintf("nothing in the record says that revision %s ever had all traffic here: no gate has passed for it, and a rollback asks none but that it is live", dest.Revision))
	}
	return err
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
func (p *targetRun) atCommit(ctx context.Context, at plan.Situation, split knative.Split) (plan.Destination, error) {
	commit, err := commitNamed(at.Record, p.To)
	if err != nil {
		return plan.Destination{}, err
	}
	state, err := p.infra.At(ctx, commit)
	if err != nil {
		return plan.Destination{}, fmt.Errorf("to: %w", err)
	}
	then, err := p.splitOf(state)
	if err != nil {
		return plan.Destination{}, setting.Bad("to: at commit %.10s: %w; expected one in which one revision has the traffic, or the revision itself", commit, err)
	}
	revision := then.Stable
	if revision == "" {
		if revision, err = state.NextRevision(); err != nil {
			return plan.Destination{}, err
		}
	} else if made, known, err := state.Made(revision); revision != state.Revision() || err == nil && known && !made {
		return p.revision(ctx, at, revision, split) // which never had this template
	}
	if at.Record.NeverPassed(state.Record()) {
		return plan.Destination{}, setting.Bad("to: %.10s: the promotion to %s, which has the traffic in that commit, has never passed its gates: expected a commit of one that has; to have it all the same, name the revision",
			commit, revision)
	}
	dest := p.allTo(ctx, at, record.VersionOf(revision, state), "", split)
	dest.State = state
	return dest, cmp.Or(dest.WasReady(true), p.wasRecorded(at, dest, commit))
}

// wasRecorded refuses the version of a commit that is neither in the cluster nor, by its
// images, in the record: anybody who may push any branch, or ask for a pull request from a
// fork, can make a commit.
func (p *targetRun) wasRecorded(at plan.Situation, dest plan.Destination, commit string) error {
	entries := at.Record.Of(p.Place()).Entries()
	if dest.Found != nil && dest.Found.IsReady() || len(entries) == 0 {
		return nil
	}
	for _, e := range entries {
		if e.From.MayBe(dest.State) && !e.Rollback || e.To.MayBe(dest.State) && e.Ended == record.Promoted {
			return nil
		}
	}
	return setting.Bad("to: %.10s: revision %s of that commit is not in the cluster, and nothing in the record of %s had all traffic with its images: expected a commit with a version that had; a promotion asks the gates of others",
		commit, dest.Revision, p.Overlay)
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
func (p *targetRun) allTo(ctx context.Context, at plan.Situation, to record.Version, base string, split knative.Split) plan.Destination {
	split.Stable, split.Candidate, split.Previous = to.Revision, "", ""
	dest := plan.Destination{Version: to, Base: base, Traffic: split.Targets(at.Tag, false), Service: at.Live}
	dest.Found, dest.Missing = p.service.Revision(ctx, live.NamespaceOf(at.Live), to.Revision)
	if base != "" {
		dest.State = p.baseOf(ctx, base, to)
	}
	return dest
}
