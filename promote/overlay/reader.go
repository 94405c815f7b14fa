package overlay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
)

// Reader reads the target's overlay at commits of the infra repository.
type Reader struct {
	plan.Target
	Branch interface { // that the overlay is on
		Tip(context.Context) (gitops.Snapshot, error)
	}
	Commits interface {
		At(ctx context.Context, commit string) (gitops.Snapshot, error)
	}
	Debug func(text string)
	Input string // that names the overlay; empty: path
	Tag   string // that a candidate has of which no record tells another one

	Repairs bool // what does not render with the tool's own files is read without them
}

// Situation is the overlay at the branch's tip, with its record.
func (r Reader) Situation(ctx context.Context, tip gitops.Snapshot) (plan.Situation, error) {
	at := plan.Situation{Target: r.Target, Tip: tip.Commit, Tree: tip.Tree}
	if _, err := fs.Stat(tip.Tree, r.Overlay); errors.Is(err, fs.ErrNotExist) {
		return at, fmt.Errorf("%s: folder %q: %w in the infra repository at commit %.10s: expected the overlay's folder, relative to the root",
			cmp.Or(r.Input, "path"), r.Overlay, remote.ErrNotFound, tip.Commit.Hash)
	}
	var err error
	at.Now, err = r.Read(ctx, tip)
	if errors.Is(err, knative.ErrNoService) {
		input := cmp.Or(r.Input, "path")
		if r.Service != "" {
			input = "service"
		}
		return at, setting.Bad("%s: %w", input, err)
	}
	if err != nil {
		return at, err
	}
	at.Service = at.Now.Service()
	return at.WithRecord(r.Tag), nil
}

// At is the overlay of a commit.
func (r Reader) At(ctx context.Context, commit string) (*knative.State, error) {
	then, err := r.Commits.At(ctx, commit)
	if err != nil {
		return nil, err
	}
	state, err := r.Read(ctx, then)
	if err != nil {
		return nil, fmt.Errorf("at commit %.10s: %w", commit, err)
	}
	return state, nil
}

// Read renders the overlay of a snapshot.
func (r Reader) Read(ctx context.Context, at gitops.Snapshot) (*knative.State, error) {
	began := time.Now()
	read := knative.Read
	if r.Repairs {
		read = knative.ReadBroken
	}
	state, err := read(ctx, at.Tree, r.Overlay, r.Service)
	end := fmt.Sprint(err)
	if err == nil {
		end = fmt.Sprintf("%d objects", len(state.Objects()))
	}
	r.Debug(fmt.Sprintf("render of %s at %.10s: %s in %s", r.Overlay, at.Commit.Hash, end, time.Since(began).Round(time.Millisecond)))
	return state, err
}

// NameTaken says that the tip has another configuration than a commit under the name of the
// commit's revision, which Knative refuses; empty: it has not, or differs in more than that.
func (r Reader) NameTaken(ctx context.Context, commit string, committed *knative.State) string {
	tip, err := r.Branch.Tip(ctx)
	if err != nil || tip.Commit.Hash == commit {
		return ""
	}
	now, err := knative.Read(ctx, tip.Tree, r.Overlay, r.Service) // so often that nothing is told of it
	if err != nil || !plan.OnlyConfigured(now, committed) {
		return ""
	}
	if made, known, err := now.Made(now.Revision()); err != nil || !known || made {
		return ""
	}
	return fmt.Sprintf("commit %.10s has another template under the name %s, which Knative refuses", tip.Commit.Hash, now.Revision())
}

// shows tells whether a commit shows what is expected. One without a record of
// it, which is looked for first, is not rendered.
func (r Reader) shows(ctx context.Context, at gitops.Snapshot, want plan.Expected) (bool, error) {
	var has record.Record
	if want.Promotion != "" {
		text, err := knative.ReadRecord(at.Tree, r.Overlay, r.Service)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if has, err = record.Parse(text); err != nil || !has.Is(want.Promotion, want.Step) {
			return false, nil
		}
	}
	state, err := r.Read(ctx, at)
	if plan.Withdrawn(at, r.Overlay, err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return want.ShownBy(state, has), nil
}
