package proposal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// Records say of the tool's own files among those that the head changes what is wrong with the record in each, and which
// of them are more than just what `prepare` writes. The error is that of the context.
func (p Proposal) Records(ctx context.Context, changed []string) (wrong []event.Finding, others []string, err error) {
	for _, file := range changed {
		if !knative.Own(file) {
			continue
		}
		prepared, why := false, ""
		if service := knative.OwnedBy(file); service != "" {
			prepared, why = p.record(ctx, plan.TargetOf(p.settings.Source, path.Dir(file), service))
		}
		if !prepared {
			others = append(others, file)
		}
		if why != "" {
			facts := check.Facts{Recorded: check.Recorded{File: file, Why: why}}
			wrong = append(wrong, check.Proposed(facts, p.settings.Skip...)...)
		}
	}
	return wrong, others, ctx.Err()
}

// record tells whether the file with a record is just what `prepare` writes, and why its record is none of the tool's; empty:
// it may be. A file of a Service that is new, or of an overlay that does not render, is not looked at.
func (p Proposal) record(ctx context.Context, target plan.Target) (prepared bool, why string) {
	was, errWas := knative.Read(ctx, p.base.Tree, target.Overlay, target.Service)
	is, errIs := knative.Read(ctx, p.head.Tree, target.Overlay, target.Service)
	if errWas != nil || errIs != nil || bytes.Equal(was.Record(), is.Record()) {
		return false, ""
	}
	before, unreadBefore := record.Parse(was.Record())
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
	case isCandidate(has) && record.Position(before, has.Promotion) < 0:
		return Preparation{settings: p.settings, pull: p.pull}.wrote(ctx, target, was, is, has)
	case !record.Follows(has, before):
		return false, "what it says of earlier promotions is not what the branch has"
	case !record.LeadsBetween(has, before, was, is):
		return false, "its images are not those of the overlay before and after the change"
	}
	return false, ""
}

// isCandidate tells whether a record is of a candidate that a pull request brings, and that no run has gone on from.
func isCandidate(r record.Record) bool {
	return r.Pull > 0 && !r.HasPassed() && !r.RollsBack() && (r.Percent == 0 || r.From.Revision == r.To.Revision)
}

// wrote tells whether a candidate's files are just what `prepare` writes, and why its record is not.
func (p Preparation) wrote(ctx context.Context, target plan.Target, was, is *knative.State, has record.Record) (prepared bool, why string) {
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
	return err == nil && len(files) == 0, ""
}
