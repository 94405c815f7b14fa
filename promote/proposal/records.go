package proposal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/runs"
)

// Records say of the tool's own files among those that the head changes what is wrong with the record in each, and of those
// that are more than just what `prepare` writes what the record says. The error is that of the context.
func (p Proposal) Records(ctx context.Context, changed []string) (wrong []event.Finding, others []FileChange, err error) {
	for _, file := range changed {
		if !knative.Own(file) {
			continue
		}
		prepared, why := false, ""
		if service := knative.OwnedBy(file); service != "" {
			if prepared, why, err = p.record(ctx, plan.TargetOf(p.settings.Source, path.Dir(file), service)); err != nil {
				return nil, nil, err
			}
		}
		if !prepared {
			others = append(others, FileChange{File: file, Added: said(p.base.Tree, p.head.Tree, file)})
		}
		if why != "" {
			facts := check.Facts{Recorded: check.Recorded{File: file, Why: why}}
			wrong = append(wrong, check.Proposed(facts, p.settings.Skip...)...)
		}
	}
	return wrong, others, ctx.Err()
}

// said is in words what a changed record in a file says of its promotion, and of who has decided that; empty: nothing.
func said(before, now fs.FS, file string) []string {
	was, _ := knative.ReadRecord(before, path.Dir(file), knative.OwnedBy(file)) // one that cannot be read says nothing
	text, err := knative.ReadRecord(now, path.Dir(file), knative.OwnedBy(file))
	if err != nil || bytes.Equal(was, text) {
		return nil
	}
	if len(text) == 0 {
		return []string{"no record: what was promoted so far is forgotten"}
	}
	r, err := record.Parse(text)
	if err != nil || !r.Exists() {
		return nil
	}
	words := []string{fmt.Sprintf("step %s of %s", r.Step, version(r.To))}
	if r.From.Revision != "" {
		words = append(words, "from "+version(r.From))
	}
	if r.HasPassed() {
		words = append(words, "its gates have passed")
	}
	for _, said := range []struct{ what, value string }{
		{"run", r.Run}, {"started by", r.Actor}, {"approved by", r.Approved}, {"images taken from", r.Source.Overlay},
	} {
		if said.value != "" {
			words = append(words, said.what+" "+said.value)
		}
	}
	if r.Pull > 0 {
		words = append(words, fmt.Sprintf("of pull request %d", r.Pull))
	}
	return words
}

// version is in words what a record leads to, or from.
func version(v record.Version) string {
	words := cmp.Or(v.Revision, "a revision that Knative names")
	if images := v.AllImages(); len(images) > 0 {
		words += " (" + strings.Join(images, ", ") + ")"
	}
	return words
}

// aDay is by how much clocks may differ.
const aDay = 24 * time.Hour

// A transition is what becomes of the record of a target.
type transition struct {
	plan.Target
	text        []byte        // of the record that there is then
	has, before record.Record // that one, and the branch's
	unread      error         // why the branch's cannot be read
	is, was     *knative.State
}

// record tells whether the file with a record is just what `prepare` writes, and why its record is none of the tool's; empty:
// it may be. Runs go on from what the branch has; everybody may put back what it has had.
func (p Proposal) record(ctx context.Context, target plan.Target) (prepared bool, why string, err error) {
	t, why, any := transitionOf(p, target)
	if !any || why != "" {
		return false, why, nil
	}
	var errIs, errWas error
	t.was, errWas = knative.Read(ctx, p.base.Tree, target.Overlay, target.Service)
	t.is, errIs = knative.Read(ctx, p.head.Tree, target.Overlay, target.Service)
	switch {
	case errIs != nil || plan.Withdrawn(p.base, target.Overlay, errWas):
		why = "there is no Service that it could be of"
	case t.unread != nil:
		why = "the branch's cannot be read, so nothing goes on from that"
	case errWas == nil && isCandidate(t.has) && record.Position(t.before, t.has.Promotion) < 0:
		prepared, why = Preparation{settings: p.settings, pull: p.pull}.wrote(ctx, t)
		if !prepared && why == "" {
			why = t.contradicted(p.settings.CandidateTag)
		}
		return prepared, why, nil
	case p.pull.Runs:
		why = t.notByRuns(p.settings)
	default:
		why = "only runs write what goes on from the branch's record, into branches " + gitops.ProposalPrefix + "…"
	}
	if why == "" {
		return false, "", nil
	}
	then, err := t.had(ctx, p.pull)
	if err != nil || then.Tree == nil {
		return false, why, err
	}
	return false, t.notAsThen(ctx, then, p.settings.CandidateTag), nil
}

// transitionOf is what becomes of the record of a target, if there is then one that may be of it, and why that cannot be looked at.
func transitionOf(p Proposal, target plan.Target) (t transition, why string, any bool) {
	textWas, _ := knative.ReadRecord(p.base.Tree, target.Overlay, target.Service) // one that is not there begins nothing
	text, _ := knative.ReadRecord(p.head.Tree, target.Overlay, target.Service)
	if bytes.Equal(textWas, text) {
		return t, "", false
	}
	before, unread := record.Parse(textWas)
	has, err := record.Parse(text)
	if err != nil {
		return t, err.Error(), true
	}
	here := target.Place()
	here.Repository = has.Repository // by another address it may be the same
	t = transition{Target: target, text: text, has: has, before: before.Of(here), unread: unread}
	elsewhere := record.Elsewhere(has, here)
	if elsewhere != "" && t.before.Exists() {
		return t, "it is of " + elsewhere, true
	}
	return t, "", elsewhere == "" && has.Exists()
}

// notByRuns is why a record cannot be what a run writes in the place of the branch's; empty: it may be.
func (t transition) notByRuns(c Settings) string {
	switch {
	case t.has.Started.After(time.Now().Add(aDay)):
		return fmt.Sprintf("it begins at %s, which is not yet", t.has.Started.Format(time.RFC3339))
	case runs.Newer(t.has.Run, c.RunURL):
		return fmt.Sprintf("its run %s is newer than this one, %s", t.has.Run, c.RunURL)
	case !record.Follows(t.has, t.before):
		return "what it says of its own promotion and of earlier ones is not what the branch has"
	case t.was != nil && !record.LeadsBetween(t.has, t.before, t.was, t.is):
		return "it does not lead from what the overlay has before the change to what it has then"
	case t.has.RollsBack() && !t.has.To.SameImages(t.is) && !record.Knows(t.before, t.has.To):
		return "it leads to images that neither the overlay has then nor the branch's record"
	}
	return t.contradicted(c.CandidateTag)
}

// had is the commit that had a record as the branch's tip, as what a git revert brings: messages lead to those of its promotion,
// and the branch's own record to what it had before the next one. The zero Snapshot: there is none, or nobody can tell.
func (t transition) had(ctx context.Context, pull Pull) (gitops.Snapshot, error) {
	line, err := pull.Commits.Behind(ctx, pull.Tip, gitops.Trailer{}, "")
	if err != nil {
		return gitops.Snapshot{}, err
	}
	var commits []string
	if at := record.Position(t.before, t.has.Promotion); at > 0 {
		base := t.before.Entries()[at-1].Base
		// anybody may have made what is not of the branch; a server without partial fetches tells not even of its tip
		if len(line) == 0 || slices.ContainsFunc(line, func(m gitops.Message) bool { return m.Tip == base }) {
			commits = append(commits, base)
		}
	}
	found, err := pull.Commits.Behind(ctx, pull.Tip, gitops.Trailer{Key: plan.TrailerID, Value: t.has.Promotion}, plan.TrailerID)
	if err != nil {
		return gitops.Snapshot{}, err
	}
	for _, message := range found {
		commits = append(commits, message.Tip)
	}
	commits = slices.Compact(commits) // one merge may have brought several
	for _, commit := range commits[:min(len(commits), runs.LookedLimit)] {
		then, err := pull.Commits.At(ctx, commit)
		switch {
		case errors.Is(err, remote.ErrNotFound):
			continue
		case err != nil:
			return then, err
		}
		if text, err := knative.ReadRecord(then.Tree, t.Overlay, t.Service); err == nil && bytes.Equal(text, t.text) {
			return then, nil
		}
	}
	return gitops.Snapshot{}, nil
}

// notAsThen is why a record may not come back that a commit of the branch had: without the Service as it was then, or to forget
// how its promotion, or one after that, has ended. Empty: it may.
func (t transition) notAsThen(ctx context.Context, then gitops.Snapshot, tag string) string {
	if t.is == nil {
		return ""
	}
	had, err := knative.Read(ctx, then.Tree, t.Overlay, t.Service)
	if err == nil && had.Revision() != "" && !had.SameTemplate(t.is) {
		return fmt.Sprintf("the template is not as it was at commit %.10s, which had it", then.Commit.Hash)
	}
	if t.before.Is(t.has.Promotion, t.has.Step) && t.before.HasPassed() {
		return "the note that the gates have passed is gone"
	}
	if words := t.contradicted(tag); words != "" {
		return words
	}
	if _, since := record.Remembers(t.before); t.before.Cut && !t.has.Started.After(since) && record.Position(t.before, t.has.Promotion) < 0 {
		return "the branch's record does not reach that far, so that nobody can tell whether it was rolled back since: promote its images again, or roll back to it"
	}
	for _, revision := range record.Known(t.before.Entries()) {
		if t.before.Withdrew(revision) && !t.has.Withdrew(revision) {
			return "it does not say any more that " + revision + " was rolled back"
		}
	}
	return ""
}

// contradicted is what the traffic beside a record says otherwise, where the branch's two agree: no promotion goes on from that,
// and no rollback that names nothing. Empty: nothing.
func (t transition) contradicted(tag string) string {
	words := func(now *knative.State) string {
		if now == nil {
			return ""
		}
		at := plan.Situation{Target: t.Target, Now: now}.WithRecord(tag)
		split, err := at.Split()
		switch {
		case !at.Record.Exists():
			return ""
		case err != nil:
			return err.Error()
		}
		return at.Record.Disagreement(at.Place(), split)
	}
	if has := words(t.is); has != "" && words(t.was) == "" {
		return "the traffic beside it is otherwise: " + has
	}
	return ""
}

// isCandidate tells whether a record is of a candidate that a pull request brings, and that no run has gone on from.
func isCandidate(r record.Record) bool {
	return r.Pull > 0 && !r.HasPassed() && !r.RollsBack() && (r.Percent == 0 || r.From.Revision == r.To.Revision)
}

// wrote tells whether a candidate's files are just what `prepare` writes, and why its record is not.
func (p Preparation) wrote(ctx context.Context, t transition) (prepared bool, why string) {
	asked, has, is := p.pull.Number, t.has, t.is // 0: of the branch itself, and not of a pull request
	p.pull.Number = has.Pull
	s := PreparedService{Target: t.Target, was: t.was, merged: is}
	err := p.planned(ctx, &s, has)
	if err == nil && s.Skipped != "" {
		err = errors.New(s.Skipped)
	}
	var text []byte
	if err == nil {
		text, err = p.recordOf(&s)
	}
	switch {
	case err != nil:
		return false, fmt.Sprintf("`prepare` would write none here: %v", err)
	case !bytes.Equal(text, is.Record()):
		return false, fmt.Sprintf("it is not what `prepare` writes for pull request %d", has.Pull)
	}
	after, err := p.after(ctx, &s, is)
	if err != nil {
		return false, ""
	}
	files, err := after.Files()
	return err == nil && len(files) == 0 && (asked == 0 || asked == has.Pull), ""
}
