package proposal

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// How the names of files begin and end that Argo CD reads beside a kustomization.
const (
	parameters = ".argocd-source"
	chart      = "Chart.yaml"
)

// overridden are the files for Argo CD in the folders with a kustomization that say something else
// there than before. The file may have been there already, and the folder, or a symbolic link that
// leads to it, be deployed from now on only.
func (p Proposal) overridden() (all []string, err error) {
	was, err := kustomize.Folders(p.base.Tree)
	if err != nil {
		return nil, err
	}
	is, err := kustomize.Folders(p.head.Tree)
	if err != nil {
		return nil, err
	}
	folders := slices.Concat(was, is)
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		entries, err := fs.ReadDir(p.head.Tree, folder)
		if err != nil {
			continue // it is gone
		}
		for _, entry := range entries {
			file, name := path.Join(folder, entry.Name()), entry.Name()
			argo := strings.HasPrefix(name, parameters) || strings.HasSuffix(name, chart)
			if argo && (!slices.Contains(was, folder) || p.changes(file)) {
				all = append(all, file)
			}
		}
	}
	return all, nil
}
