package proposal

import (
	"fmt"
	"slices"

	"github.com/acme/knative-promote/gitops"
)

// BesideRendering is what would have Argo CD do more at the head than render overlays, and not at the base: check out what is
// elsewhere, with its own credential, or go by files of its own. Nobody has approved that yet.
func BesideRendering(base, head gitops.Snapshot) (all []string, err error) {
	p := Proposal{base: base, head: head}
	differences, err := gitops.Differences(base, head)
	if err != nil {
		return nil, err
	}
	findings, err := p.Checkout(differences)
	if err != nil {
		return nil, err
	}
	for _, f := range findings {
		all = append(all, fmt.Sprintf("%s (%s)", f.Problem, f.Rule))
	}
	files, err := p.overridden()
	return slices.Concat(all, files), err
}
