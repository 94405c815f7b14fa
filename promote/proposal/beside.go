package proposal

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
)

// Beside are the files by which Argo CD comes to render something else than kustomize renders: of
// the changed ones its own parameters wherever they are, a Helm chart beside a kustomization, and
// attributes by which git gives files another content; and what overridden finds.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/util/app/discovery/discovery.go
// https://argo-cd.readthedocs.io/en/stable/user-guide/parameters/#store-overrides-in-git
func (p Proposal) Beside(changed []string) ([]string, error) {
	all, err := p.overridden()
	for _, file := range changed {
		folder, name := path.Split(file)
		if name == ".gitattributes" || strings.HasPrefix(name, parameters) || strings.HasSuffix(name, chart) && p.isOverlay(path.Clean(folder)) {
			all = append(all, file)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), err
}

// Checkout finds what of the differences of the head keeps Argo CD from checking it out, or leads
// its Git credential elsewhere. What is taken away does neither.
func (p Proposal) Checkout(differences []gitops.Difference) ([]event.Finding, error) {
	facts := check.Facts{Tree: p.head.Tree}
	for _, d := range differences {
		added := check.Added{Path: d.Path, Mode: d.Mode}
		var err error
		if added.Bytes, err = d.Size(); err != nil {
			return nil, err
		}
		if d.Mode&fs.ModeSymlink != 0 {
			if added.Target, err = d.Target(); err != nil {
				return nil, fmt.Errorf("reading the symbolic link %s: %w", oneline.Brief(d.Path), err)
			}
		}
		if d.Mode != 0 {
			facts.Added = append(facts.Added, added)
		}
	}
	return check.Proposed(facts, p.settings.Skip...), nil
}

// isOverlay tells whether a folder has a kustomization before or after.
func (p Proposal) isOverlay(folder string) bool {
	_, before := kustomize.File(p.base.Tree, folder)
	_, after := kustomize.File(p.head.Tree, folder)
	return before == nil || after == nil
}
