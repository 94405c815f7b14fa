package promote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
)

// infra reads the target's overlay at commits of the infra repository.
type infra struct {
	plan.Target
	branch interface { // that the overlay is on
		Tip(context.Context) (gitops.Snapshot, error)
	}
	commits Commits
	debug   func(text string)
	input   string // that names the overlay; empty: path
	tag     string // that a candidate has of which no record tells another one
}

// situation is the overlay at the branch's tip, with its record.
func (i infra) situation(ctx context.Context, tip gitops.Snapshot) (plan.Situation, error) {
	at := plan.Situation{Target: i.Target, Tip: tip.Commit, Tree: tip.Tree}
	if _, err := fs.Stat(tip.Tree, i.Overlay); errors.Is(err, fs.ErrNotExist) {
		return at, fmt.Errorf("%s: folder %q: %w in the infra repository at commit %.10s: expected the overlay's folder, relative to the root",
			cmp.Or(i.input, "path"), i.Overlay, gitops.ErrNotFound, tip.Commit.Hash)
	}
	var err error
	at.Now, err = i.read(ctx, tip)
	if errors.Is(err, knative.ErrNoService) {
		input := cmp.Or(i.input, "path")
		if i.Service != "" {
			input = "service"
		}
		return at, setting.Bad("%s: %w", input, err)
	}
	if err != nil {
		return at, err
	}
	at.Service = at.Now.Service()
	return at.WithRecord(i.tag), nil
}

// at is the overlay of a commit.
func (i infra) at(ctx context.Context, commit string) (*knative.State, error) {
	then, err := i.commits.At(ctx, commit)
	if err != nil {
		return nil, err
	}
	state, err := i.read(ctx, then)
	if err != nil {
		return nil, fmt.Errorf("at commit %.10s: %w", commit, err)
	}
	return state, nil
}

// read renders the overlay of a snapshot.
func (i infra) read(ctx context.Context, at gitops.Snapshot) (*knative.State, error) {
	began := time.Now()
	state, err := knative.Read(ctx, at.Tree, i.Overlay, i.Service)
	end := fmt.Sprint(err)
	if err == nil {
		end = fmt.Sprintf("%d objects", len(state.Objects()))
	}
	i.debug(fmt.Sprintf("render of %s at %.10s: %s in %s", i.Overlay, at.Commit.Hash, end, time.Since(began).Round(time.Millisecond)))
	return state, err
}

// shows tells whether a commit shows what is expected. One without a record of
// it, which is looked for first, is not rendered.
func (i infra) shows(ctx context.Context, at gitops.Snapshot, want plan.Expected) (bool, error) {
	var has record.Record
	if want.Promotion != "" {
		text, err := knative.ReadRecord(at.Tree, i.Overlay, i.Service)
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
	state, err := i.read(ctx, at)
	if plan.Withdrawn(at, i.Overlay, err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return want.ShownBy(state, has), nil
}
