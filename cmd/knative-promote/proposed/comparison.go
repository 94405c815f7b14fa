package proposed

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/proposal"
	"github.com/acme/knative-promote/promote/report"
)

// A comparison renders overlays at two commits.
type comparison struct {
	base, head gitops.Snapshot
	proposal   proposal.Proposal
	whole      bool // what an overlay renders is kept, to be written
	most       int  // bytes of what is kept
}

// mostKept is how many bytes of manifests that differ, and of those to be written, are kept: a small
// pull request may add a large base a thousand times.
const mostKept = 32 << 20

// look finds the overlays that render to something else. Where the policies change, they are all
// that these deny.
func (c comparison) look(ctx context.Context, changed []string) (*changes, error) {
	touched, parts, err := kustomize.Touched(c.base.Tree, c.head.Tree, changed, c.proposal.Deploys)
	all, stricter := touched, c.proposal.ChangesPolicies()
	if err == nil && stricter {
		all, err = kustomize.Overlays(c.head.Tree, c.proposal.Deploys)
	}
	if err != nil {
		return nil, err
	}
	shown := &changes{most: c.most}
	for _, overlay := range all {
		if shown.full() {
			shown.leave(overlay)
			continue
		}
		o := c.compare(ctx, overlay)
		affected := slices.Contains(touched, overlay)
		if affected {
			o.From = c.sources(ctx, overlay, changed)
		} else {
			o.Err, o.Large = "", ""
		}
		if o.Findings, err = c.findings(ctx, o, affected, stricter); err != nil {
			return nil, err
		}
		if affected && (o.Changes() || len(o.Later) > 0) || len(o.Findings) > 0 {
			shown.add(c.shown(o))
		}
		if !o.Changes() {
			shown.silent = append(shown.silent, o.From...)
		}
	}
	if err := c.parts(ctx, parts, shown); err != nil {
		return nil, err
	}
	slices.Sort(shown.silent)
	shown.silent = slices.Compact(shown.silent)
	return shown, ctx.Err()
}

// shown is what is kept of an overlay: what it renders only where that is to be written.
func (c comparison) shown(o report.Overlay) report.Overlay {
	if !c.whole {
		o.Before, o.After = nil, nil
	}
	return o
}

// changes are the overlays that are shown, in bounded memory.
type changes struct {
	overlays    []report.Overlay
	silent      []string // changed files of overlays that render as before
	unused      []string // kustomizations of components with changes that nothing shows
	alike       []string // folders that change as the overlays show which build on them
	bytes, most int      // that the overlays take, and may take before no more is looked at
}

func (c *changes) add(o report.Overlay) {
	c.overlays = append(c.overlays, o)
	c.bytes += o.Difference.Bytes() + o.Later.Bytes() + len(o.Before) + len(o.After)
	for _, f := range o.Findings {
		c.bytes += len(f.Text())
	}
}

func (c *changes) full() bool { return c.bytes > c.most }

// leave says of a folder that nobody has looked.
func (c *changes) leave(folder string) {
	c.add(report.Overlay{Path: folder, Err: fmt.Sprintf("not rendered, as what is before it changes over %d KiB already: split the change", c.most>>10)})
}

// findings are what is wrong with an overlay at the head: all in the manifests of one that
// comes to be another, and what changed files break of it. Of one that renders the same, the files that git checks out as something
// else, which may render to another; of one that stays as it is, what the policies deny that have changed.
func (c comparison) findings(ctx context.Context, o report.Overlay, changed, stricter bool) (all []event.Finding, err error) {
	if o.After == nil {
		return nil, nil
	}
	if changed || stricter {
		if all, err = c.proposal.Manifests(ctx, o.Path, o.Before, o.After); err != nil {
			return nil, err
		}
	}
	if !changed {
		return slices.DeleteFunc(all, func(f event.Finding) bool { return f.Rule != check.PolicyDenied }), nil
	}
	if len(o.Difference) == 0 && !stricter {
		all = slices.DeleteFunc(all, func(f event.Finding) bool { return f.Rule != check.CheckoutConverts })
	}
	brought, err := c.proposal.Brought(ctx, o.Path, o.Before, o.After)
	return append(all, brought...), err
}

// compare renders one overlay of both commits.
func (c comparison) compare(ctx context.Context, overlay string) report.Overlay {
	o := report.Overlay{Path: overlay}
	if file, err := kustomize.File(c.head.Tree, overlay); err == nil {
		o.File = path.Join(overlay, file)
	}
	before, _, err := knative.Render(ctx, c.base.Tree, overlay)
	if err != nil { // new, or broken before: everything in it is new
		before = nil
	}
	if before != nil && isGone(c.head.Tree, overlay) {
		return c.gone(o, before)
	}
	after, misfits, err := knative.Render(ctx, c.head.Tree, overlay)
	switch {
	case err != nil:
		o.Err = err.Error()
		return o
	case len(misfits) > 0:
		o.Err = knative.DescribeMisfits(misfits)
	default:
		o.Large = words(kustomize.Room(ctx, c.head.Tree, overlay))
	}
	o.Before, o.After, o.Difference = before, after, manifest.Compare(before, after)
	later, untold := c.later(ctx, o)
	o.Later = later
	if names, err := knative.Services(after); err == nil {
		o.Service = strings.Join(names, ", ")
	}
	if o.Warnings, err = knative.Pinned(before, after); err != nil {
		o.Err, o.After = err.Error(), nil
	}
	if untold != nil {
		o.Warnings = append(o.Warnings, fmt.Sprintf("Not all that the next promotion changes can be shown, as the overlay does not render without the files that promotions write: %v", untold))
	}
	return o
}

// later is what changes of an overlay without the files that runs write, where that is more than what it renders: the next promotion
// brings it. The error is why not all of that can be told.
func (c comparison) later(ctx context.Context, o report.Overlay) (manifest.Difference, error) {
	had, _ := knative.Services(o.Before) // what cannot be read is said elsewhere
	has, _ := knative.Services(o.After)
	services := append(had, has...)
	before, _ := knative.WithoutOwn(ctx, c.base.Tree, o.Path, services)
	after, wrong := knative.WithoutOwn(ctx, c.head.Tree, o.Path, services)
	switch {
	case before == nil && after == nil:
		return nil, wrong
	case before == nil:
		before = o.Before
	case after == nil:
		after = o.After
	}
	hidden, err := knative.Hides(knative.Change{Before: o.Before, After: o.After}, knative.Change{Before: before, After: after})
	if err != nil || !hidden {
		return nil, cmp.Or(err, wrong)
	}
	return manifest.Compare(before, after), wrong
}
