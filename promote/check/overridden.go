package check

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/event"
)

// An overriding is where somebody changes what the overlay renders, outside of
// it: in the Application, or in a file for Argo CD beside the kustomization.
type overriding struct {
	where     string // for people
	file      string // of the infra repository; empty: the Application
	kustomize v1alpha1.ApplicationSourceKustomize
	remove    string // the command that takes it away; empty: the file goes

	// Of a file alone: why Argo CD cannot read it, what it has Argo CD render the overlay as, and what
	// else of kustomize it sets or takes away.
	err     error
	another string
	others  []string
}

// overridings reads the files that argocd-image-updater writes
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/reposerver/repository/repository.go#L1554-L1600).
func overridings(f Facts) []overriding {
	source, index := f.source()
	var all []overriding
	if source != nil && source.Kustomize != nil {
		at := "/spec/source/kustomize"
		if f.Setup.App.Spec.HasMultipleSources() {
			at = fmt.Sprintf("/spec/sources/%d/kustomize", index)
		}
		all = append(all, overriding{
			where: strings.ReplaceAll(at[1:], "/", ".") + " of application " + f.application(), kustomize: *source.Kustomize,
			remove: patchApplication(f.Setup.App, `[{"op": "remove", "path": "`+at+`"}]`),
		})
	}
	for _, name := range parameterFiles(f) {
		file := path.Join(f.Request.Overlay, name)
		if raw, err := readTree(f.Tree, file); err == nil {
			all = append(all, parametersIn(file, raw))
		}
	}
	if chart := chartOf(f); chart != "" {
		all = append(all, overriding{where: chart, file: chart, another: "Helm"})
	}
	return all
}

// chartOf is a file that has Argo CD take the overlay for a chart, as of a chart's and a kustomization's the last one by its name
// decides; empty: there is none
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/util/app/discovery/discovery.go#L26-L67).
func chartOf(f Facts) (chart string) {
	if f.Tree == nil || !fs.ValidPath(f.Request.Overlay) {
		return ""
	}
	own, err := kustomize.File(f.Tree, f.Request.Overlay)
	entries, unread := fs.ReadDir(f.Tree, f.Request.Overlay)
	if err != nil || unread != nil {
		return ""
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, "Chart.yaml") && name > path.Base(own) {
			chart = path.Join(f.Request.Overlay, name)
		}
	}
	return chart
}

// parameterFiles are the names of those that Argo CD reads in the overlay. Where nobody says which Application that is of, as of a
// pull request, they are all that one may read.
func parameterFiles(f Facts) []string {
	const all, begin, end = ".argocd-source.yaml", ".argocd-source-", ".yaml"
	names := []string{all}
	if name := fileName(f); name != "" || f.Tree == nil || !fs.ValidPath(f.Request.Overlay) {
		return append(names, begin+name+end)
	}
	entries, _ := fs.ReadDir(f.Tree, f.Request.Overlay) // one that cannot be read has none
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), begin) && strings.HasSuffix(entry.Name(), end) {
			names = append(names, entry.Name())
		}
	}
	return names
}

// fileName is the Application's name in the name of its file: outside of Argo
// CD's own namespace with the namespace before it.
func fileName(f Facts) string {
	app := f.Setup.App
	if app == nil {
		return f.Request.App.Name
	}
	return app.InstanceName(f.argocd())
}

func readTree(tree fs.FS, file string) ([]byte, error) {
	if tree == nil || !fs.ValidPath(file) {
		return nil, fs.ErrNotExist
	}
	return fs.ReadFile(tree, file)
}

// found is one trouble with it.
func (o overriding) found(severity event.Severity, more values) found {
	more["Where"], more["Remove"] = o.where, o.remove
	return found{severity: severity, at: place{File: o.file}, values: more}
}

// findImageOverridden also finds an entry that is no image as it stands.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/util/kustomize/kustomize.go#L182-L197
func findImageOverridden(f Facts) []found {
	if f.Next == nil {
		return nil
	}
	var all []found
	for _, o := range overridings(f) {
		for _, text := range o.kustomize.Images {
			image, err := kustomize.ParseImage(string(text))
			if err != nil || setsAny(f, image) {
				all = append(all, o.found(event.SeverityError, values{"Image": text, "Readable": err == nil}))
			}
		}
	}
	return all
}

// setsAny tells whether an entry of images: is about an image that a container runs, as it is called
// before or after other entries rename it, or about one version of such an image alone.
func setsAny(f Facts, entry kustomize.Image) bool {
	name, _, _ := kustomize.SplitImage(entry.Name)
	untagged := kustomize.Image{Name: name}
	if slices.ContainsFunc(f.Next.Images(), func(used string) bool {
		called, _, _ := kustomize.SplitImage(used)
		return entry.Matches(used) || untagged.Matches(called) || entry.NewName != "" && called == entry.NewName
	}) {
		return true
	}
	return slices.Contains(replaceable(f), entry.Name)
}

// replaceable are the names of the overlay's own entries that rename an image which a container runs:
// Argo CD's entry of such a name takes the place of it.
func replaceable(f Facts) (names []string) {
	if f.Tree == nil {
		return nil
	}
	own, _ := kustomize.Read(f.Tree, f.Request.Overlay) // one that cannot be read has none
	var called []string
	for _, used := range f.Next.Images() {
		name, _, _ := kustomize.SplitImage(used)
		called = append(called, name)
	}
	for _, entry := range slices.Backward(own.Images) { // one may rename what another one has made
		if entry.NewName != "" && slices.Contains(called, entry.NewName) {
			names, called = append(names, entry.Name), append(called, entry.Name)
		}
	}
	return names
}

func findRenderOverridden(f Facts) []found {
	var all []found
	for _, o := range overridings(f) {
		all = append(all, o.inFile()...)
		k := o.kustomize
		if renames(f, k) {
			all = append(all, o.found(event.SeverityError, values{"Kind": "name", "Set": k}))
		}
		if len(k.CommonLabels) > 0 && !k.LabelWithoutSelector {
			all = append(all, o.found(event.SeverityError, values{"Kind": "labels", "Set": k}))
		}
		if len(k.Patches)+len(k.Components) > 0 {
			// Of the Application its owners decide; a file that comes with a merge may set any image by a patch, also at an address.
			all = append(all, o.found(errorIf(o.file != ""), values{"Kind": "patches", "Set": k}))
		}
	}
	return all
}

// renames tells whether the Service gets another name than in the overlay,
// whose own prefix and suffix are replaced by Argo CD's.
func renames(f Facts, k v1alpha1.ApplicationSourceKustomize) bool {
	if f.Tree == nil {
		return false
	}
	own, _ := kustomize.Read(f.Tree, f.Request.Overlay) // one that cannot be read adds nothing
	return k.NamePrefix != "" && k.NamePrefix != own.NamePrefix || k.NameSuffix != "" && k.NameSuffix != own.NameSuffix
}
