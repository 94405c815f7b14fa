package source

import (
	"context"
	"slices"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/record"
)

// Drift compares a source with what it was when the target was promoted from there last,
// and says what of that is not so here. With an error only what of it has changed since is
// not known.
func (s Reader) Drift(ctx context.Context, one Observed, last record.Source, here *knative.State) (event.Drift, error) {
	source := s.of(one.Overlay)
	source.Target = one.Target
	d := event.Drift{From: one.Overlay, Missing: missingRefs(one.Now, here)}
	if last.IsZero() || source.Commits == nil {
		return d, nil
	}
	then, err := source.At(ctx, last.Commit)
	if err != nil {
		return d, err
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
