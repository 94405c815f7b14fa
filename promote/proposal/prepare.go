package proposal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/runs"
)

// A Pull is a pull request of the infra repository, and what its merge would be.
type Pull struct {
	Number int
	Base   gitops.Snapshot // tip of the branch that it is to be merged into, or what its head has left the branch at
	Tip    string          // commit that is the branch's tip now
	Merged gitops.Snapshot // merge of its head into that
	Branch string          // name of that branch, for people
	Runs   bool            // it may be of a run; else people have made it

	// Before is a commit of that branch, by its full name; the zero Snapshot: it has none of that
	// name.
	Before  func(ctx context.Context, commit string) (gitops.Snapshot, error)
	Commits runs.Commits // of its repository
}

// A Preparation makes the templates that a pull request changes candidates at 0 %:
// the change that a promotion would begin with, but on the pull request's own branch.
// Knative refuses a template that changes under its revision's name, so without
// that the sync of the merge fails.
type Preparation struct {
	Services []PreparedService // which it concerns, in the order of the overlays

	settings Settings
	pull     Pull
}

// A PreparedService is a Service whose template the pull request changes under a
// pinned name, or that it has a candidate of.
type PreparedService struct {
	plan.Target
	From, To  string // revisions: with the traffic, and the candidate
	Withdrawn bool   // the template is the branch's again, so the candidate goes
	Skipped   string // why its template needs nothing, or can have nothing, in words; empty: it has
	Err       error  // why that failed; nil: it did not

	plan        plan.Plan
	was, merged *knative.State // before the pull request, and with it
	shown       bool           // the pull request has the candidate already
}

// Prepare finds what the pull request changes of the templates in the overlays. The
// error is of reading the repository; that of one overlay stands beside the others.
func Prepare(ctx context.Context, c Settings, pull Pull, overlays []string) (Preparation, error) {
	p := Preparation{settings: c, pull: pull}
	for _, overlay := range overlays {
		found, err := p.services(ctx, overlay)
		if err != nil {
			found = []PreparedService{{Target: p.target(overlay, ""), Err: err}}
		}
		p.Services = append(p.Services, found...)
	}
	return p, ctx.Err()
}

// target is a Service of the pull request.
func (p Preparation) target(overlay, service string) plan.Target {
	return plan.TargetOf(p.settings.Source, overlay, service)
}

// services are those of one overlay that it concerns.
func (p Preparation) services(ctx context.Context, overlay string) ([]PreparedService, error) {
	manifest, misfits, err := knative.Render(ctx, p.pull.Merged.Tree, overlay)
	if err != nil {
		return nil, fmt.Errorf("overlay %s does not render: %w", overlay, err)
	}
	names, err := knative.Services(manifest)
	if err != nil {
		return nil, fmt.Errorf("overlay %s: %w", overlay, err)
	}
	if len(names) > 0 && len(misfits) == 0 { // a commit takes out the misfits, and is looked at then
		if err := kustomize.Room(ctx, p.pull.Merged.Tree, overlay); err != nil {
			return nil, fmt.Errorf("overlay %s is too large: %w", overlay, err)
		}
	}
	var found []PreparedService
	for _, name := range names {
		was, err := knative.Read(ctx, p.pull.Base.Tree, overlay, name)
		if err != nil {
			continue // nothing of it runs that could have a name
		}
		s := PreparedService{Target: p.target(overlay, name), was: was}
		if s.merged, err = knative.Read(ctx, p.pull.Merged.Tree, overlay, name); err != nil {
			return nil, err
		}
		if concerned, err := p.settle(ctx, &s); concerned {
			s.Err = err
			found = append(found, s)
		}
	}
	return found, nil
}

// settle decides what becomes of a Service: whether it is concerned at all, and how.
func (p Preparation) settle(ctx context.Context, s *PreparedService) (concerned bool, err error) {
	changed := !s.was.SameTemplate(s.merged)
	written := !bytes.Equal(ownFile(p.pull.Base, s.was), ownFile(p.pull.Merged, s.merged))
	record, unread := record.Parse(s.merged.Record())
	ours := unread == nil && record.Pull == p.pull.Number
	switch {
	case !changed && !(written && ours):
		return false, nil
	case written && unread != nil:
		return true, fmt.Errorf("the record in %s cannot be read: %w: put the file back as branch %s has it", s.merged.RecordFile(), unread, p.pull.Branch)
	case written && !ours:
		s.Skipped = fmt.Sprintf("the pull request itself changes %s, which stays as it is", s.merged.RecordFile())
		return s.was.Revision() == s.merged.Revision(), nil
	case !changed:
		s.Withdrawn = true
	case s.was.Revision() == "":
		s.Skipped = "it has no revision's name in Git yet, so the merge gives all traffic to the change at once, as soon as that is ready: promote the service once before, then each change waits for a promotion"
		return true, nil
	case s.was.Revision() != s.merged.Revision() && !s.was.Owned():
		return false, nil // by hand, and its name with it
	default:
		if err := p.planned(ctx, s, record); err != nil || s.Skipped != "" {
			return true, err
		}
	}
	files, err := p.edit(ctx, s, p.pull.Merged)
	s.shown = len(files) == 0
	return true, err
}

// ownFile is the file with the record; nil where there is none.
func ownFile(at gitops.Snapshot, state *knative.State) []byte {
	content, err := fs.ReadFile(at.Tree, state.RecordFile())
	if err != nil {
		return nil
	}
	return content
}

// planned plans the promotion that begins with the candidate, on what the branch has.
// The one that stands there already stays the one that it is.
func (p Preparation) planned(ctx context.Context, s *PreparedService, has record.Record) error {
	at := plan.Situation{Target: s.Target, Tip: p.pull.Base.Commit, Tree: p.pull.Base.Tree, Now: s.was, Next: s.merged}.WithRecord(p.settings.CandidateTag)
	split, err := at.Split()
	if err != nil {
		return err
	}
	if split.Stable == "" {
		s.Skipped = "Git does not say which revision has its traffic: promote the service once before"
		return nil
	}
	if s.plan, err = plan.New(p.settings.Settings, at); err != nil {
		return err
	}
	before := at.Record.Of(s.Place())
	s.plan.Source, s.plan.Code = before.SourceOf(s.merged), before.Code
	s.plan.Started, s.plan.Pull = p.pull.Base.Commit.Time, p.pull.Number
	s.From, s.To = s.plan.From, s.plan.To
	again := s.plan
	again.Base = has.Base
	if has.Pull != p.pull.Number || has.Promotion != again.IDAfter(at.Record) {
		return nil
	}
	then, err := p.pull.Before(ctx, has.Base)
	if err == nil && sameAs(ctx, s.was, then) {
		s.plan.ID, s.plan.Base, s.plan.Started = has.Promotion, has.Base, then.Commit.Time
	}
	return err
}

// sameAs tells whether an overlay was in another commit what it is, so that to restore the one is
// to restore the other. One that cannot be read is not.
func sameAs(ctx context.Context, was *knative.State, at gitops.Snapshot) bool {
	if at.Tree == nil {
		return false
	}
	then, err := knative.Read(ctx, at.Tree, was.Overlay, was.Service())
	return err == nil && bytes.Equal(then.Manifest, was.Manifest) && bytes.Equal(then.Record(), was.Record())
}

// Candidates are those that wait for a promotion once the pull request is merged.
func (p Preparation) Candidates() []event.Candidate {
	var all []event.Candidate
	for _, s := range p.made() {
		if !s.Withdrawn {
			all = append(all, event.Candidate{Overlay: s.Overlay, Service: s.Service, Environment: s.Environment})
		}
	}
	return all
}

// made are the Services whose overlay is changed.
func (p Preparation) made() []PreparedService {
	var all []PreparedService
	for _, s := range p.Services {
		if s.Err == nil && s.Skipped == "" {
			all = append(all, s)
		}
	}
	return all
}

// Failed are the errors of single Services.
func (p Preparation) Failed() error {
	var all []error
	for _, s := range p.Services {
		all = append(all, s.Err)
	}
	return errors.Join(all...)
}
