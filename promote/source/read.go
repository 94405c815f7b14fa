package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/overlay"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// Cluster is the environments that images come from, each as its Argo CD
// shows it, which need not be the target's.
type Cluster interface {
	// Applications are those that deploy a folder of the infra repository.
	Applications(ctx context.Context, source argo.Source) ([]argo.App, error)
	Check(context.Context, argo.Intent) (argo.Verdict, argo.Observed, error)
}

// Statuses are those that a forge shows beside the commits of the infra repository.
type Statuses interface {
	// States are the states of a commit's statuses, by their names.
	States(ctx context.Context, commit string) (map[string]string, error)
}

// Branch is the branch that has the environments which images come from, and
// its commits.
type Branch interface {
	Tip(context.Context) (gitops.Snapshot, error)
	At(ctx context.Context, commit string) (gitops.Snapshot, error)
}

// Has tells whether the branch that has the environments has a commit.
type Has func(ctx context.Context, commit string) (bool, error)

// known is the same; false where nobody can tell.
func (h Has) known(ctx context.Context, commit string) (bool, error) {
	if h == nil {
		return false, nil
	}
	return h(ctx, commit)
}

// Wants are the environments that images are taken from, and what must be true of them.
type Wants struct {
	From       []string      // their overlays: all of them run the images; empty: images are taken from nowhere
	FromBranch string        // that has those, where it is not the target's; empty: it is
	Checks     []string      // commit statuses that must be success on the commit that was live there
	Soak       time.Duration // how long it must have been good
	OnDrift    OnDrift       // what about configuration that they have and the target has not

	WaitForSource time.Duration // how long they are waited for
}

// OnDrift is what a promotion does about configuration that its source has and the
// target has not. The zero value is DriftWarn.
type OnDrift string

// The choices of on-config-drift.
const (
	DriftWarn OnDrift = "warn" // it is told
	DriftFail OnDrift = "fail" // the promotion does not begin
)

// A Reader sees the environments that images are taken from, as the infra
// repository, Argo CD and the forge show them.
type Reader struct {
	Wants
	Overlay  overlay.Reader // of the target
	Branch   Branch         // FromBranch; nil: the target's
	Has      Has            // nil: nobody can tell
	Cluster  Cluster        // nil: nobody can tell what runs there
	Statuses Statuses       // nil: nobody can tell the statuses of a commit
}

// of reads a source's overlay, of the Service that has the target's name.
func (s Reader) of(folder string) overlay.Reader {
	source := s.Overlay
	source.Overlay, source.Environment, source.Source.Path = folder, "", folder
	source.Source.Branch = cmp.Or(s.FromBranch, source.Source.Branch)
	source.Input = "from"
	if s.Branch != nil {
		source.Branch, source.Commits = s.Branch, s.Branch
	}
	return source
}

// Tip is the tip that has the sources, where that of the target is tip.
func (s Reader) Tip(ctx context.Context, tip gitops.Snapshot) (gitops.Snapshot, error) {
	if s.Branch == nil {
		return tip, nil
	}
	tip, err := s.Branch.Tip(ctx)
	if err != nil {
		return tip, fmt.Errorf("from-branch: %w", err)
	}
	return tip, nil
}

// Stands is an error where a source, whose Service has this name there, is not any more what
// was taken from it.
func (s Reader) Stands(ctx context.Context, tip gitops.Snapshot, then record.Source, service string) error {
	source := s.of(then.Overlay)
	source.Service = service
	at, err := source.Situation(ctx, tip)
	if err != nil {
		return err
	}
	reason := Observed{Situation: at}.unfinished()
	if reason == "" && at.Record.To.Revision != then.Revision {
		reason = fmt.Sprintf("it has come from %s to %s meanwhile", then.Revision, at.Record.To.Revision)
	}
	if reason == "" {
		return nil
	}
	return &NotYetError{From: then.Overlay, Reason: reason}
}

// read reads a source's overlay. Its Service may have a name of its own there.
func (s Reader) read(ctx context.Context, tip gitops.Snapshot, folder string) (overlay.Reader, plan.Situation, error) {
	source := s.of(folder)
	at, err := source.Situation(ctx, tip)
	if err != nil && source.Service != "" {
		source.Service = ""
		at, err = source.Situation(ctx, tip)
	}
	return source, at, err
}

// See reads a source's overlay, and asks its Applications.
func (s Reader) See(ctx context.Context, tip gitops.Snapshot, folder string) (Observed, error) {
	source, at, err := s.read(ctx, tip, folder)
	if err != nil {
		return Observed{}, err
	}
	one := Observed{Situation: at}
	if one.unfinished() != "" {
		return one, nil
	}
	if one.apps, err = s.seen(ctx, tip, source, at); err != nil {
		return one, fmt.Errorf("from: %w", err)
	}
	if err := one.askChecks(ctx, s, source); err != nil {
		return one, fmt.Errorf("from: checks: %w", err)
	}
	return one, nil
}

// seen is what the Applications show of a source that deploy its overlay.
func (s Reader) seen(ctx context.Context, tip gitops.Snapshot, source overlay.Reader, at plan.Situation) ([]appSeen, error) {
	if s.Cluster == nil {
		return nil, errors.New("no argocd-server is given that has it")
	}
	apps, err := s.Cluster.Applications(ctx, at.Source)
	if err != nil {
		return nil, err
	}
	want := plan.Expected{Version: at.Record.To, Promotion: at.Record.Promotion, Step: at.Record.Step}
	if want.Traffic, err = at.Now.Traffic(); err != nil {
		return nil, err
	}
	var all []appSeen
	for _, app := range apps {
		source.Target = at.Target
		source.App = app
		verdict, seen, err := s.Cluster.Check(ctx, source.Intent(tip.Commit.Hash, want))
		if err != nil {
			return nil, err
		}
		all = append(all, appSeen{app, verdict, seen})
	}
	return all, nil
}

// undone says which Application of a source somebody has rolled back in Argo CD; empty:
// none, as far as anybody can tell.
func (s Reader) undone(ctx context.Context, tip gitops.Snapshot, source overlay.Reader, at plan.Situation) string {
	apps, err := s.seen(ctx, tip, source, at)
	if err != nil {
		return ""
	}
	for _, a := range apps {
		if moved := a.seen.Moved.Service; moved != "" {
			return moved
		}
	}
	return ""
}

// Withdrew is why what was taken from a source must get no more traffic: there it was rolled
// back since, by its revision or by its images, whose names may be others there, or in Argo
// CD. One that cannot be read any more permits nothing.
func (s Reader) Withdrew(ctx context.Context, tip gitops.Snapshot, from record.Source, images *knative.State) error {
	source, at, err := s.read(ctx, tip, from.Overlay)
	if err != nil {
		return &NotYetError{From: from.Overlay, Reason: fmt.Sprintf("nobody can tell whether what is promoted here was rolled back there: %v; to go on all the same give override: rolled-back and a reason", err)}
	}
	at.Record = further(ctx, source, at, func(r record.Record) bool { return slices.Contains(record.Known(r.Entries()), from.Revision) })
	gone := goneFrom(at.Record, from.Revision, images)
	if gone == "" {
		gone = s.reverted(ctx, source, from, at)
	}
	if gone == "" && at.Record.To.Revision == from.Revision {
		gone = s.undone(ctx, tip, source, at)
	}
	if gone != "" {
		return &NotYetError{From: from.Overlay, Reason: gone + " there meanwhile; to go on all the same give override: rolled-back and a reason, and to roll it back here too: rollback"}
	}
	return nil
}

// furtherLimit is how many older records of an overlay are read.
const furtherLimit = 5

// further is an overlay's record with entries that were cut off from it, until they are enough:
// the commit that the oldest promotion began on has those before it.
func further(ctx context.Context, of overlay.Reader, at plan.Situation, enough func(record.Record) bool) record.Record {
	r := at.Record.Of(at.Place())
	for range furtherLimit {
		if !r.Cut || enough(r) || len(r.Past) == 0 {
			break
		}
		then, err := of.At(ctx, r.Past[len(r.Past)-1].Base)
		if err != nil {
			break
		}
		before, err := record.Parse(then.Record())
		if before = before.Of(at.Place()); err != nil || !before.Exists() {
			break
		}
		r.Past, r.Cut = append(slices.Clone(r.Past), before.Entries()...), before.Cut
	}
	return r
}

// reverted says that what was taken from a source is in Git no more as it was then,
// without a rollback in its record; empty: it is, or newer promotions have gone on from
// there, or nobody can tell.
func (s Reader) reverted(ctx context.Context, source overlay.Reader, from record.Source, at plan.Situation) string {
	then, err := source.At(ctx, from.Commit)
	if err != nil {
		return ""
	}
	has, err := record.Parse(then.Record())
	if err != nil {
		return ""
	}
	was, is := has.Of(at.Place()).Entries(), at.Record.Of(at.Place())
	of := func(promotion string) func(record.Entry) bool {
		return func(e record.Entry) bool { return e.Promotion == promotion }
	}
	switch {
	case len(was) == 0:
		return ""
	case is.Promotion == was[0].Promotion && !is.HasPassed():
		return from.Revision + ", with the images that are promoted here, was reverted in Git"
	case is.Promotion == was[0].Promotion && !is.To.KeptBy(at.Now, is.From):
		return from.Revision + " has other images, set by hand,"
	case is.Promotion == was[0].Promotion && at.TakenAway() != "":
		return from.Revision + " has had its traffic taken away by hand"
	case slices.ContainsFunc(is.Entries(), of(was[0].Promotion)):
		return ""
	case !is.Cut, slices.ContainsFunc(is.Entries(), func(e record.Entry) bool { return slices.ContainsFunc(was[1:], of(e.Promotion)) }):
		return from.Revision + ", with the images that are promoted here, was taken out of Git"
	}
	return "so much has been promoted since " + from.Revision + " that nobody can tell whether it was rolled back"
}

// goneFrom says that a source whose record has come to this has no more what was taken from
// it; empty: it may have.
func goneFrom(there record.Record, revision string, images *knative.State) string {
	gone := there.Withdrawn(images)
	if there.Withdrew(revision) {
		gone = revision
	}
	switch {
	case gone != "":
		return gone + ", with the images that are promoted here, was rolled back"
	case !there.Cut && !slices.Contains(record.Known(there.Entries()), revision):
		return revision + ", with the images that are promoted here, was taken out of Git"
	}
	return ""
}
