package proposal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
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
			prepared, why = p.record(ctx, plan.TargetOf(p.settings.Source, path.Dir(file), service))
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
	words := []string{fmt.Sprintf("step %s of %s", r.Step, cmp.Or(r.To.Revision, "a revision that Knative names"))}
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

// aDay is by how much clocks may differ.
const aDay = 24 * time.Hour

// record tells whether the file with a record is just what `prepare` writes, and why its record is none of the tool's; empty:
// it may be. A file of an overlay that does not render is not looked at. Where the branch's does not, a record may begin anew.
func (p Proposal) record(ctx context.Context, target plan.Target) (prepared bool, why string) {
	was, errWas := knative.Read(ctx, p.base.Tree, target.Overlay, target.Service)
	is, errIs := knative.Read(ctx, p.head.Tree, target.Overlay, target.Service)
	text, _ := knative.ReadRecord(p.base.Tree, target.Overlay, target.Service) // one that is not there begins nothing
	if errIs != nil || bytes.Equal(text, is.Record()) {
		return false, ""
	}
	before, unreadBefore := record.Parse(text)
	has, unread := record.Parse(is.Record())
	elsewhere := record.Elsewhere(has, target.Place())
	before = before.Of(target.Place())
	switch {
	case unreadBefore != nil:
		return false, ""
	case unread != nil:
		return false, unread.Error()
	case has.Exists() && elsewhere != "" && before.Exists():
		return false, "it is of " + elsewhere
	case elsewhere != "":
		return false, ""
	case errWas != nil && record.Follows(has, record.Record{}):
		return false, ""
	case errWas != nil:
		return false, foreign(has, before, nil, is)
	case isCandidate(has) && record.Position(before, has.Promotion) < 0:
		return Preparation{settings: p.settings, pull: p.pull}.wrote(ctx, target, was, is, has)
	case has.Started.After(time.Now().Add(aDay)):
		return false, fmt.Sprintf("it begins at %s, which is not yet", has.Started.Format(time.RFC3339))
	case runs.Newer(has.Run, p.settings.RunURL):
		return false, fmt.Sprintf("its run %s is newer than this one, %s", has.Run, p.settings.RunURL)
	}
	if why = mayWrite(p.pull, has, before, was, is); why == "" {
		why = contradicted(target, p.settings.CandidateTag, was, is)
	}
	return false, why
}

// mayWrite is why a pull request may not write a record in the place of another one; empty: it may. Runs write into branches of
// their own, people put back what the branch has had.
func mayWrite(pull Pull, has, before record.Record, was, is *knative.State) string {
	people := pull.Fork || pull.Head != "" && !strings.HasPrefix(pull.Head, gitops.ProposalPrefix)
	if people && record.Returns(has, before) {
		return ""
	}
	why := foreign(has, before, was, is)
	if why == "" && people {
		why = "only runs write what goes on from the branch's record, into branches " + gitops.ProposalPrefix + "…"
	}
	return why
}

// contradicted is what the traffic beside a record says otherwise, where the branch's two agree: no promotion goes on from that,
// and no rollback that names nothing. Empty: nothing.
func contradicted(target plan.Target, tag string, was, is *knative.State) string {
	words := func(now *knative.State) string {
		at := plan.Situation{Target: target, Now: now}.WithRecord(tag)
		split, err := at.Split()
		switch {
		case !at.Record.Exists():
			return ""
		case err != nil:
			return err.Error()
		}
		return at.Record.Disagreement(at.Place(), split)
	}
	if has := words(is); has != "" && words(was) == "" {
		return "the traffic beside it is otherwise: " + has
	}
	return ""
}

// foreign is why a record cannot be what a run writes after another one; empty: it may be.
func foreign(has, before record.Record, was, is *knative.State) string {
	switch {
	case !record.Follows(has, before):
		return "what it says of its own promotion and of earlier ones is not what the branch has"
	case was != nil && !record.LeadsBetween(has, before, was, is):
		return "it does not lead from what the overlay has before the change to what it has then"
	}
	return ""
}

// isCandidate tells whether a record is of a candidate that a pull request brings, and that no run has gone on from.
func isCandidate(r record.Record) bool {
	return r.Pull > 0 && !r.HasPassed() && !r.RollsBack() && (r.Percent == 0 || r.From.Revision == r.To.Revision)
}

// wrote tells whether a candidate's files are just what `prepare` writes, and why its record is not.
func (p Preparation) wrote(ctx context.Context, target plan.Target, was, is *knative.State, has record.Record) (prepared bool, why string) {
	asked := p.pull.Number // 0: of the branch itself, and not of a pull request
	p.pull.Number = has.Pull
	s := PreparedService{Target: target, was: was, merged: is}
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
