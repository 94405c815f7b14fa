package promote

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/setting"
)

// A run is one command at work on its targets. What is done for one of them is
// in its targetRun; what is done for all of them at once, a commit above all, is
// here.
type run struct {
	config  Config
	systems Systems
	tip     gitops.Snapshot // that the overlays were read at
	targets []*targetRun    // one a target, in their order

	forbidden error // why no further step may be published; nil: nothing forbids it
}

// open reads the targets' overlays at the branch's tip and begins a run of a
// command on them. With an error there is a run as well, that can be ended.
func open(ctx context.Context, command event.Command, c Config, on Systems) (*run, error) {
	r, started := &run{config: c, systems: on.complete()}, time.Now()
	err := checkTargets(c.Targets)
	if err == nil {
		r.tip, err = r.systems.Branch.Tip(ctx)
	}
	for _, target := range c.Targets {
		p := newTargetRun(command, c, target, r.systems, started)
		if err == nil {
			err = p.read(ctx, r.tip)
		}
		r.targets = append(r.targets, p)
	}
	return r, err
}

// checkTargets refuses two targets in one overlay: both would have to change
// its kustomization, and the image of one moves the other too.
func checkTargets(targets []plan.Target) error {
	for i, target := range targets {
		if slices.ContainsFunc(targets[:i], func(t plan.Target) bool { return t.Overlay == target.Overlay }) {
			return setting.Bad("path: %s is the overlay of two targets: expected one of its own for each", target.Overlay)
		}
	}
	return nil
}

// each does something for one target after the other, until one fails.
func (r *run) each(do func(*targetRun) error) error {
	for _, p := range r.targets {
		if err := do(p); err != nil {
			return p.named(err)
		}
	}
	return nil
}

// together does something for all at the same time. No error ends the others: a
// rollback must be announced and seen for each. The gravest one is returned.
func together[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	if len(all) == 1 {
		return do(ctx, all[0]) // where a panic ends the run as anywhere else
	}
	ended := make(chan error, len(all))
	var group errgroup.Group // which passes a panic on
	for _, one := range all {
		group.Go(func() error { ended <- do(ctx, one); return nil })
	}
	err := group.Wait()
	close(ended)
	for one := range ended {
		err = graver(err, one)
	}
	return err
}

// untilOneFails is the same, but a failure ends the others: what they would say
// decides nothing any more. One that cannot tell does not, as another may still
// fail.
func untilOneFails[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return together(ctx, all, func(ctx context.Context, one T) error {
		err := do(ctx, one)
		if err != nil && !ask.IsInconclusive(err) {
			stop()
		}
		return err
	})
}

// committed tells whether Git shows any step of the plans.
func (r *run) committed() bool {
	return slices.ContainsFunc(r.targets, (*targetRun).committed)
}

// say prints a line into the log.
func (r *run) say(format string, args ...any) { journal.Say(r.systems.Reporter, format, args...) }

// end closes the Results, one a target.
func (r *run) end(ctx context.Context, e ending) (results []event.Result, err error) {
	cancelled := r.systems.cancelled(ctx)
	for _, p := range r.targets {
		own := p.ending(e)
		status, why := own.of(ctx, cancelled)
		err = graver(err, why)
		own.debug(p.journal, status, cancelled)
		if status == event.Superseded && !cancelled {
			noteRollback(ctx, true, p)
		}
		results = append(results, p.journal.End(status, why))
	}
	return results, err
}

// graver is the one of two errors that decides; of equals, the first.
func graver(a, b error) error {
	if b != nil && (a == nil || severity(b) > severity(a)) {
		return b
	}
	return a
}

// severity ranks errors: a target that could not be rolled back comes first, then one
// that was not, as Knative could not route to what it had before, one that somebody
// else has changed, a failure, and last a gate that cannot tell.
func severity(err error) int {
	_, bad := errors.AsType[*RestoreError](err)
	switch {
	case bad:
		return 4
	case isDown(err):
		return 3
	case isSuperseded(err):
		return 2
	case ask.IsInconclusive(err):
		return 0
	}
	return 1
}
