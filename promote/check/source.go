package check

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/repourl"
)

// sourceRules are about what Argo CD makes of the infra repository.
func sourceRules() []Rule {
	return []Rule{
		rule("source", findSource), rule("not-kustomize", findNotKustomize), rule("load-restrictions", findOutside),
		rule(ruleImageOverridden, findImageOverridden), rule(ruleOverridden, findRenderOverridden), rule("generate-paths", findGeneratePaths),
		rule("argo-renders-otherwise", findOtherwise), rule("kustomize-differs", findDiffering),
	}
}

func findSource(f Facts) []found {
	if f.Request.Source.RepoURL == "" {
		return nil
	}
	_, err := argo.SourceIndex(f.Setup.App, f.Request.Source)
	mismatch, ok := errors.AsType[*argo.SourceError](err)
	if !ok {
		return nil
	}
	return []found{{values: values{
		"Reason": upper(mismatch.Reason), "Sources": describeSources(f.Setup.App), "Hydrator": f.Setup.App.Spec.SourceHydrator, "OtherBranch": mismatch.OtherBranch,
		"Follow": mergeApplication(f.Setup.App, fmt.Sprintf(`{"spec": {"source": {"targetRevision": %q}}}`, f.Request.Source.Branch)),
	}}}
}

func describeSources(app *v1alpha1.Application) []string {
	var lines []string
	for _, s := range app.Spec.GetSources() {
		lines = append(lines, fmt.Sprintf("source: repoURL %s, path %q, targetRevision %q", repourl.Shown(s.RepoURL), s.Path, s.TargetRevision))
	}
	return lines
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// source is the Application's source that deploys the overlay, nil where there
// is none; index is its place among several.
func (f Facts) source() (source *v1alpha1.ApplicationSource, index int) {
	if f.Setup.App == nil || f.Request.Source.RepoURL == "" {
		return nil, 0
	}
	index, err := argo.SourceIndex(f.Setup.App, f.Request.Source)
	if err != nil {
		return nil, 0
	}
	found := f.Setup.App.Spec.GetSources()[index]
	return &found, index
}

func findNotKustomize(f Facts) []found {
	_, index := f.source()
	kind := f.Setup.App.Status.SourceType
	if kinds := f.Setup.App.Status.SourceTypes; f.Setup.App.Spec.HasMultipleSources() {
		if kind = ""; index < len(kinds) {
			kind = kinds[index]
		}
	}
	if kind == "" || kind == v1alpha1.ApplicationSourceTypeKustomize {
		return nil
	}
	return []found{{values: values{"Type": kind}}}
}

// findOutside is content where Argo CD has rendered this very commit.
func findOutside(f Facts) []found {
	if len(f.Outside) == 0 || f.sync().compared() || strings.Contains(f.Setup.BuildOptions, "LoadRestrictionsNone") {
		return nil
	}
	source, _ := f.source()
	certain := source != nil && f.Setup.Overrides != nil && (source.Kustomize == nil || source.Kustomize.Version == "")
	return []found{{severity: errorIf(certain), at: f.inKustomization(), values: values{
		"Overlay": f.Request.Overlay, "Outside": f.Outside, "Certain": certain, "BuildOptions": f.Setup.BuildOptions,
	}}}
}

func findGeneratePaths(f Facts) []found {
	source, _ := f.source()
	value := f.Setup.App.Annotations[v1alpha1.AnnotationKeyManifestGeneratePaths]
	if value == "" {
		return nil
	}
	overlay := strings.Trim(path.Clean("/"+source.Path), "/")
	for part := range strings.SplitSeq(value, ";") {
		if covered(strings.TrimSpace(part), overlay) {
			return nil
		}
	}
	return []found{{values: values{
		"Paths": value, "Source": overlay, "Command": annotateApplication(f.Setup.App, v1alpha1.AnnotationKeyManifestGeneratePaths, ".;../../base"),
	}}}
}

// covered tells whether a path of the annotation, absolute or relative to the
// overlay, contains the overlay. A pattern may.
func covered(part, overlay string) bool {
	if part == "" {
		return false
	}
	if strings.ContainsAny(part, "*?[") {
		return true
	}
	at := path.Join("/", overlay, part)
	if path.IsAbs(part) {
		at = path.Clean(part)
	}
	return at == "/" || "/"+overlay == at || strings.HasPrefix("/"+overlay, at+"/")
}
