package promote

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/acme/knative-promote/gitops"
)

// A run is one command at work on its targets. What is done for one of them is
// in its part; what is done for all of them at once, a commit above all, is
// here.
type run struct {
	Config
	Systems
	parts []*part // one a target, in their order

	barred error // why no further step may be published; nil: nothing forbids it
}

// open reads the targets' overlays at the branch's tip and begins a run of a
// command on them. With an error there is a run as well, that can be ended.
func open(ctx context.Context, command Command, c Config, on Systems) (*run, error) {
	r, started := &run{Config: c, Systems: on.complete()}, time.Now()
	err := checkTargets(c.Targets)
	var tip gitops.Snapshot
	if err == nil {
		tip, err = r.Branch.Tip(ctx)
	}
	for _, target := range c.Targets {
		p := newPart(command, c, target, r.Systems, started)
		if err == nil {
			err = p.read(ctx, tip)
		}
		r.parts = append(r.parts, p)
	}
	return r, err
}

// checkTargets refuses two targets in one overlay: both would have to change
// its kustomization, and the image of one moves the other too.
func checkTargets(targets []Target) error {
	for i, target := range targets {
		if slices.ContainsFunc(targets[:i], func(t Target) bool { return t.Overlay == target.Overlay }) {
			return badInput("path: %s is the overlay of two targets: expected one of its own for each", target.Overlay)
		}
	}
	return nil
}

// each does something for one part after the other, until one fails.
func (r *run) each(do func(*part) error) error {
	for _, p := range r.parts {
		if err := do(p); err != nil {
			return err
		}
	}
	return nil
}

// together does something for all at the same time. No error ends the others: a
// rollback must be announced and seen for each. The first one is returned.
func together[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	if len(all) == 1 {
		return do(ctx, all[0]) // where a panic ends the run as anywhere else
	}
	var group errgroup.Group
	for _, one := range all {
		group.Go(func() error { return do(ctx, one) })
	}
	return group.Wait()
}

// say prints a line into the log.
func (r *run) say(format string, args ...any) { say(r.Reporter, format, args...) }

// end closes the Results, one a target.
func (r *run) end(ctx context.Context, e ending) (results []Result, err error) {
	cancelled := r.cancelled(ctx)
	for _, p := range r.parts {
		own := p.ending(e)
		status, why := own.of(ctx, cancelled)
		err = worse(err, why)
		p.journal.debugOutcome(status, own, cancelled)
		results = append(results, p.journal.end(status, why))
	}
	return results, err
}

// ending is how the part ends in a run that ends so: what the run rolls back
// need not be all that it has.
func (p *part) ending(e ending) ending {
	e.reached = cmp.Or(p.reached, Unchanged)
	switch {
	case p.lost != nil:
		e.failed = p.lost
	case p.stays:
		e.back, e.failed, e.atOnce = false, nil, false
	}
	return e
}

// worse is the error that a run ends with: that of a target which could not be
// rolled back, before all others.
func worse(a, b error) error {
	if _, bad := errors.AsType[*RestoreError](b); bad || a == nil {
		return b
	}
	return a
}
