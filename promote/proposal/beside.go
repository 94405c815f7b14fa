package proposal

import (
	"path"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// Beside are those of the changed files by which Argo CD comes to render something else than
// kustomize renders: its own parameters and a Helm chart beside a kustomization, and attributes
// by which git gives files another content.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/util/app/discovery/discovery.go
// https://argo-cd.readthedocs.io/en/stable/user-guide/parameters/#store-overrides-in-git
func (p Proposal) Beside(changed []string) (all []string) {
	for _, file := range changed {
		folder, name := path.Split(file)
		argo := strings.HasPrefix(name, ".argocd-source") || strings.HasSuffix(name, "Chart.yaml")
		if name == ".gitattributes" || argo && p.isOverlay(path.Clean(folder)) {
			all = append(all, file)
		}
	}
	slices.Sort(all)
	return all
}

// isOverlay tells whether a folder has a kustomization before or after.
func (p Proposal) isOverlay(folder string) bool {
	_, before := kustomize.File(p.base.Tree, folder)
	_, after := kustomize.File(p.head.Tree, folder)
	return before == nil || after == nil
}
