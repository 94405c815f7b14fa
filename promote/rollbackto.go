package promote

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"knative.dev/serving/pkg/apis/serving"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
)

// rollbackTo finds what a rollback leads to.
func (p *part) rollbackTo(ctx context.Context, at Situation, split knative.Split) (destination, error) {
	switch {
	case strings.HasPrefix(p.To, p.Service+"-"):
		return p.revision(ctx, at, split)
	case p.To != "":
		return p.atCommit(ctx, at, split)
	case at.Unreadable != nil:
		return destination{}, fmt.Errorf("%w; or name where to roll back to with the input to", unreadable(at.Now, at.Unreadable))
	case split.Candidate != "":
		if err := ownCandidate(at, split); err != nil {
			return destination{}, fmt.Errorf("%w; or name where to roll back to with the input to", err)
		}
		return p.before(ctx, Plan{Base: at.Record.Base, from: at.Record.From, now: at.Now}, at.Live)
	}
	return p.previous(ctx, at, split)
}

// previous is what was there before the promotion that the traffic is at.
func (p *part) previous(ctx context.Context, at Situation, split knative.Split) (destination, error) {
	if words := at.Record.disagreement(p.Target, split); at.Record.exists() && words != "" {
		return destination{}, fmt.Errorf("%w; or name where to roll back to with the input to", disagrees(at.Now, p.Target, at.Record, words, split))
	}
	last, sure := lastTo(at.Record.entries(), at.Record.Cut, split.Stable) // the record agrees, so it is of this overlay
	switch {
	case !sure:
		return destination{}, badInput("what had the traffic before %s is longer ago than the record of %s goes, which has the last %d promotions and rollbacks: name a revision or a commit to roll back to with the input to",
			orLatest(split.Stable), p.Overlay, len(at.Record.entries()))
	case last.From.IsZero():
		return destination{}, badInput("nothing to roll back to: no promotion to %s, which has the traffic now, is in the record of %s: name a revision or a commit to roll back to with the input to",
			orLatest(split.Stable), p.Overlay)
	}
	return p.allTo(ctx, at, last.From, last.Base, split), nil
}

// lastTo is the promotion that gave the traffic to a revision; zero where the
// record has none. A revision may have been promoted several times, so what has
// been rolled back does not count: a rollback takes promotions off the end,
// and so does one that begins from what was there before them. Where older entries
// were cut off, what leads past the oldest one that is kept is not known.
func lastTo(entries []Entry, cut bool, revision string) (last Entry, sure bool) {
	var standing []Entry
	elsewhere := false // the last rollback went to what is not among them
	for _, e := range slices.Backward(entries) {
		switch {
		case e.Rollback:
			left := upTo(standing, e.To.Revision)
			elsewhere = len(left) == 0 && (len(standing) == 0 || standing[0].From.Revision != e.To.Revision)
			standing = left
		case e.Ended != RolledBack:
			if left := upTo(standing, e.From.Revision); len(left) > 0 || cut {
				standing = left
			}
			if e.From.Revision != e.To.Revision { // it moved something
				standing = append(standing, e)
			}
		}
	}
	left := upTo(standing, revision)
	switch {
	case len(left) > 0:
		return left[len(left)-1], true
	case cut:
		return Entry{}, false
	}
	i := slices.IndexFunc(entries, func(e Entry) bool {
		return !e.Rollback && e.To.Revision == revision && e.From.Revision != revision
	})
	if i < 0 || !elsewhere {
		return Entry{}, true
	}
	return entries[i], true
}

// upTo are the promotions up to the last one to a revision.
func upTo(standing []Entry, revision string) []Entry {
	for len(standing) > 0 && standing[len(standing)-1].To.Revision != revision {
		standing = standing[:len(standing)-1]
	}
	return standing
}

// revision is a revision by name: as the record has it, or as it is in the
// cluster. It must have had the traffic, or be ready.
func (p *part) revision(ctx context.Context, at Situation, split knative.Split) (destination, error) {
	entries := at.Record.of(p.Target).entries()
	to, base := Version{Revision: p.To}, ""
	if i := slices.IndexFunc(entries, func(e Entry) bool { return e.From.Revision == p.To }); i >= 0 {
		to, base = entries[i].From, entries[i].Base
	} else if i := slices.IndexFunc(entries, func(e Entry) bool { return e.To.Revision == p.To }); i >= 0 {
		to = entries[i].To
	}
	dest := p.allTo(ctx, at, to, base, split)
	switch {
	case hadTraffic(entries, p.To):
		return dest, nil
	case len(to.Images) > 0:
		return dest, dest.wasReady(false)
	}
	found, err := dest.live()
	if err != nil || found.Labels[serving.ServiceLabelKey] != p.Service {
		return dest, badInput("to: revision %q is not in the record of %s, nor in the cluster; known are %s; a commit can be named too", p.To, p.Overlay, strings.Join(known(entries), ", "))
	}
	dest.Images, dest.InitImages = imagesOf(found.Spec.Containers), imagesOf(found.Spec.InitContainers)
	return dest, dest.wasReady(false)
}

// hadTraffic tells whether a record says of a revision that it had the traffic.
// What a rollback left need not have: that may be a candidate that never got ready.
func hadTraffic(entries []Entry, revision string) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool {
		return e.From.Revision == revision && !e.Rollback || e.To.Revision == revision && (e.Ended == Promoted || e.Rollback)
	})
}

func imagesOf(containers []corev1.Container) []string {
	var images []string
	for _, c := range containers {
		images = append(images, c.Image)
	}
	return images
}

// known are the revisions of a record.
func known(entries []Entry) []string {
	var names []string
	for _, e := range entries {
		names = append(names, e.To.Revision, e.From.Revision)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// wasReady refuses a revision that is not known to have been ready. One of a
// commit may be gone, or Argo CD not answer.
func (d destination) wasReady(ofCommit bool) error {
	found, err := d.live()
	if err == nil && found.IsReady() || err != nil && ofCommit {
		return nil
	}
	return badInput("to: revision %s was never seen ready: expected one that has been", d.Revision)
}

// atCommit is the overlay of a commit, with all traffic on the revision of its
// template.
func (p *part) atCommit(ctx context.Context, at Situation, split knative.Split) (destination, error) {
	commit, err := at.Record.commit(p.To)
	if err != nil {
		return destination{}, err
	}
	state, err := p.infra.at(ctx, commit)
	if err != nil {
		return destination{}, fmt.Errorf("to: %w", err)
	}
	revision := state.Revision()
	if revision == "" {
		if revision, err = state.NextRevision(); err != nil {
			return destination{}, err
		}
	}
	dest := p.allTo(ctx, at, versionOf(revision, state), "", split)
	dest.state = state
	return dest, dest.wasReady(true)
}

var (
	fullCommit  = regexp.MustCompile(`^[0-9a-fA-F]{40}$`)
	shortCommit = regexp.MustCompile(`^[0-9a-fA-F]{7,39}$`)
)

// commit is the full name of one that a user names: that, or the beginning of
// one that the record has.
func (r Record) commit(name string) (string, error) {
	if fullCommit.MatchString(name) {
		return name, nil
	}
	for _, e := range r.entries() {
		if shortCommit.MatchString(name) && strings.HasPrefix(e.Base, strings.ToLower(name)) {
			return e.Base, nil
		}
	}
	return "", badInput("to: %q: expected a revision of the record, which are %s, or a commit by its full name of 40 hexadecimal digits, as git rev-parse prints it",
		name, strings.Join(known(r.entries()), ", "))
}

// allTo is a version with all traffic, and the overlay of the commit that had
// it, where there is one that can be read and shows it.
func (p *part) allTo(ctx context.Context, at Situation, to Version, base string, split knative.Split) destination {
	split.Stable, split.Candidate, split.Previous = to.Revision, "", ""
	dest := destination{Version: to, traffic: split.Targets(p.CandidateTag, false), live: p.service.revisionOnce(ctx, namespaceOf(at.Live), to.Revision)}
	if base != "" {
		dest.state = p.baseOf(ctx, base, to)
	}
	_, missing := dest.live()
	dest.gone = errors.Is(missing, argo.ErrNotFound)
	return dest
}
