package promote

import (
	"context"
	"fmt"
	"slices"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/overlay"
)

// OnDrift is what a promotion does about configuration that its source has and the
// target has not. The zero value is DriftWarn.
type OnDrift string

// The choices of on-config-drift.
const (
	DriftWarn OnDrift = "warn" // it is told
	DriftFail OnDrift = "fail" // the promotion does not begin
)

// tellDrift says what configuration the sources have and the target has not, and
// keeps the promotion from beginning where that is asked for.
func (p *part) tellDrift(ctx context.Context, observed []observedSource) error {
	var all *NotYetError
	var drifts []event.Drift
	for _, one := range observed {
		source := p.sourceInfra(one.Overlay)
		source.Target = one.Target
		d, err := p.drift(ctx, source, one)
		if err != nil {
			return err
		}
		lines := d.Words()
		if len(lines) == 0 {
			continue
		}
		drifts = append(drifts, d)
		all = all.and(drifted(d.From, lines))
	}
	p.journal.tell(event.Drifted{All: drifts})
	if p.OnDrift != DriftFail || all == nil {
		return nil
	}
	return all
}

// drifted is the error of what drifts, where that is not to be.
func drifted(from string, lines []string) *NotYetError {
	reason := fmt.Sprintf("it has configuration that is not so here (on-config-drift is fail): %s", lines[0])
	if more := len(lines) - 1; more > 0 {
		reason += fmt.Sprintf("; and %d more, which the log has", more)
	}
	return &NotYetError{From: from, Reason: reason}
}

// drift compares the source with what it was when the target was promoted from
// there last, and says what of that is not so here.
func (p *part) drift(ctx context.Context, source overlay.Reader, one observedSource) (event.Drift, error) {
	here := p.at.Now
	d := event.Drift{From: one.Overlay, Missing: missingRefs(one.Now, here)}
	last := p.at.Record.Of(p.Place()).Source.Of(d.From)
	if last.IsZero() || source.Commits == nil {
		return d, nil
	}
	then, err := source.At(ctx, last.Commit)
	if ctx.Err() != nil {
		return d, ctx.Err()
	}
	if err != nil {
		p.journal.say("from: what has changed in %s since the last promotion is not known: %v", d.From, err)
		return d, nil
	}
	d.Changes = manifest.Drift(then.Manifest, one.Now.Manifest, here.Manifest)
	return d, nil
}

// missingRefs are the ConfigMaps and Secrets that one template names and that
// the other overlay neither renders nor names. kustomize's hashes do not count.
func missingRefs(from, here *knative.State) []string {
	has := map[string]bool{}
	for _, name := range refs(here) {
		has[name] = true
	}
	for _, o := range here.Objects() {
		has[o.GetKind()+" "+manifest.WithoutHash(o.GetName())] = true
	}
	missing := slices.DeleteFunc(refs(from), func(name string) bool { return has[name] })
	slices.Sort(missing)
	return slices.Compact(missing)
}

// refs are the ConfigMaps and Secrets that a template names, and can't do without.
func refs(state *knative.State) []string {
	service, err := state.Written()
	if err != nil {
		return nil
	}
	var names []string
	for _, ref := range knative.References(service.Spec.Template.Spec.PodSpec) {
		if !ref.Optional {
			ref.Name = manifest.WithoutHash(ref.Name)
			names = append(names, ref.String())
		}
	}
	return names
}
