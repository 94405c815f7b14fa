package promote

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// A run is one command at work on its targets. What is done for one of them is
// in its part; what is done for all of them at once, a commit above all, is
// here.
type run struct {
	Config
	Systems
	parts []*part // one a target, in their order
}

// open reads the targets' overlays at the branch's tip and begins a run of a
// command on them. With an error there is a run as well, that can be ended.
func open(ctx context.Context, command string, c Config, on Systems) (*run, error) {
	r, started := &run{Config: c, Systems: on.complete()}, time.Now()
	tip, err := r.Branch.Tip(ctx)
	for _, target := range c.Targets {
		p := newPart(command, c, target, r.Systems, started)
		if err == nil {
			err = p.read(ctx, tip)
		}
		r.parts = append(r.parts, p)
	}
	return r, err
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

// together does something for all at the same time. The first error ends the
// others, and is the one that is returned.
func together[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	if len(all) == 1 {
		return do(ctx, all[0]) // where a panic ends the run as anywhere else
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, one := range all {
		group.Go(func() error { return do(ctx, one) })
	}
	return group.Wait()
}

// shares are the shares of the traffic that the plans' steps give, rising: the
// targets go up side by side.
func (r *run) shares() []int {
	var shares []int
	for _, p := range r.parts {
		for _, step := range p.plan.Steps {
			shares = append(shares, step.Percent)
		}
	}
	slices.Sort(shares)
	return slices.Compact(shares)
}

// say prints a line into the log.
func (r *run) say(format string, args ...any) { say(r.Reporter, format, args...) }

// end closes the Results, one a target.
func (r *run) end(ctx context.Context, e ending) (results []Result, err error) {
	cancelled := r.cancelled(ctx)
	for _, p := range r.parts {
		e.reached = cmp.Or(p.reached, Unchanged)
		var status Status
		status, err = e.of(ctx, cancelled)
		p.journal.debugOutcome(status, e, cancelled)
		results = append(results, p.journal.end(status, err))
	}
	return results, err
}
