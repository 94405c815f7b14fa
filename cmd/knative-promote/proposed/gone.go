package proposed

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/report"
)

// isGone tells whether a tree has no kustomization in a folder any more, nor where a link in its place
// leads to. One that leads to nothing does not make it so: Argo CD keeps what is deployed.
func isGone(tree fs.FS, overlay string) bool {
	folder, err := kustomize.Folder(tree, overlay)
	if err != nil {
		_, here := fs.Lstat(tree, overlay)
		return errors.Is(err, fs.ErrNotExist) && errors.Is(here, fs.ErrNotExist)
	}
	_, err = kustomize.File(tree, folder)
	return errors.Is(err, fs.ErrNotExist)
}

// gone is an overlay whose kustomization a change takes away. The Application that has the folder's
// path deploys what is there without one.
func (c comparison) gone(o report.Overlay, before []byte) report.Overlay {
	folder, names := left(c.head.Tree, o.Path)
	o.Before, o.Difference = before, manifest.Compare(before, plain(c.head.Tree, folder, names))
	if len(names) == 0 {
		return o
	}
	what := "what is there as it is (type Directory)"
	if slices.ContainsFunc(names, isChart) {
		what = "the Helm chart that is there"
	}
	const most = 5
	some := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		some += ", …"
	}
	o.File = path.Join(folder, names[0])
	o.Err = fmt.Sprintf("it has no kustomization any more, and Argo CD deploys %s: %s; take these files away too, or give the folder a kustomization", what, some)
	return o
}

// left are the files in a folder that Argo CD deploys where it has no kustomization, and where the
// folder is. What is in folders below it deploys where the Application says so alone, which then
// was never rendered by kustomize.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/reposerver/repository/repository.go
// https://argo-cd.readthedocs.io/en/stable/user-guide/directory/
func left(tree fs.FS, overlay string) (folder string, names []string) {
	folder, err := kustomize.Folder(tree, overlay)
	if err != nil {
		return "", nil // nothing is there
	}
	entries, _ := fs.ReadDir(tree, folder) // of a file in its place: none
	for _, entry := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".json", ".jsonnet"}, path.Ext(entry.Name())) && !entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return folder, names
}

// isChart tells whether a file makes Argo CD take its folder for a Helm chart.
func isChart(name string) bool { return strings.HasSuffix(name, "Chart.yaml") }

// mostPlain is how many bytes of manifests are shown that no kustomization has.
const mostPlain = 8 << 20

// plain are the manifests among files of a folder, as far as they can be read within bounds: what they
// are called is said in any case.
func plain(tree fs.FS, folder string, names []string) (all []byte) {
	for _, name := range names {
		file, err := kustomize.Folder(tree, path.Join(folder, name)) // where a link leads
		if err != nil || path.Ext(name) == ".jsonnet" {
			continue
		}
		info, err := fs.Stat(tree, file)
		if err != nil || !info.Mode().IsRegular() || info.Size() > int64(mostPlain-len(all)) {
			continue
		}
		if content, err := fs.ReadFile(tree, file); err == nil {
			all = append(append(all, content...), "\n---\n"...)
		}
	}
	return all
}
