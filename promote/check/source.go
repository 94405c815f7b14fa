package check

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/repourl"
	"github.com/acme/knative-promote/promote/event"
)

// sourceRules are about what Argo CD makes of the infra repository.
func sourceRules() []Rule {
	const kustomize = "https://argo-cd.readthedocs.io/en/stable/user-guide/kustomize/"
	return []Rule{
		{
			ID: "source", Severity: event.SeverityError, Find: findSource,
			Summary: "the Application does not deploy the overlay from the branch",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/tracking_strategies/",
		},
		{
			ID: "not-kustomize", Severity: event.SeverityError, Find: findNotKustomize,
			Summary: "Argo CD does not render the overlay with kustomize",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/tool_detection/",
		},
		{
			ID: "load-restrictions", Severity: event.SeverityWarning, Find: findOutside, Link: kustomize + "#kustomize-build-optionsparameters",
			Summary: "the overlay reads files for which kustomize needs an option",
		},
		{
			ID: "image-overridden", Severity: event.SeverityError, Find: findImageOverridden, Link: kustomize,
			Summary: "the Application sets an image that a promotion sets in Git",
		},
		{
			ID: "render-overridden", Severity: event.SeverityWarning, Find: findRenderOverridden, Link: kustomize,
			Summary: "the Application changes what the overlay renders",
		},
		{
			ID: "generate-paths", Severity: event.SeverityError, Find: findGeneratePaths,
			Summary: "manifest-generate-paths leaves the overlay out",
			Link:    "https://argo-cd.readthedocs.io/en/stable/operator-manual/high_availability/#manifest-paths-annotation",
		},
	}
}

func findSource(f Facts) []event.Finding {
	if f.Setup.App == nil || f.Request.Source.RepoURL == "" {
		return nil
	}
	_, err := argo.SourceIndex(f.Setup.App, f.Request.Source)
	mismatch, ok := errors.AsType[*argo.SourceError](err)
	if !ok {
		return nil
	}
	finding := event.Finding{
		Problem:  upper(mismatch.Reason),
		Effect:   "Argo CD never sees the promotion's commits. A promotion ends before its first one.",
		Evidence: describeSources(f.Setup.App),
		Fix:      "Check the inputs repository, branch, path and application. Or let the Application follow the branch:\n" + f.mergeApplication(fmt.Sprintf(`{"spec": {"source": {"targetRevision": %q}}}`, f.Request.Source.Branch)),
	}
	switch {
	case f.Setup.App.Spec.SourceHydrator != nil:
		finding.Effect = "Argo CD deploys commits that its hydrator makes of the repository's, and a promotion could not recognise its own. It ends before its first one."
		finding.Fix = "Deploy the overlay with spec.source in place of spec.sourceHydrator."
	case !mismatch.OtherBranch:
		finding.Fix = "Check the inputs repository, path and application: the Application's source has to be the overlay of the infra repository."
	}
	return []event.Finding{finding}
}

func describeSources(app *v1alpha1.Application) string {
	var lines []string
	for _, s := range app.Spec.GetSources() {
		lines = append(lines, fmt.Sprintf("source: repoURL %s, path %q, targetRevision %q", repourl.Shown(s.RepoURL), s.Path, s.TargetRevision))
	}
	return strings.Join(lines, "\n")
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

func findNotKustomize(f Facts) []event.Finding {
	source, index := f.source()
	if source == nil {
		return nil
	}
	kind := f.Setup.App.Status.SourceType
	if kinds := f.Setup.App.Status.SourceTypes; f.Setup.App.Spec.HasMultipleSources() {
		if kind = ""; index < len(kinds) {
			kind = kinds[index]
		}
	}
	if kind == "" || kind == v1alpha1.ApplicationSourceTypeKustomize {
		return nil
	}
	return []event.Finding{{
		Problem:  fmt.Sprintf("Argo CD renders the overlay of Application %s as %s and not with kustomize", f.application(), kind),
		Effect:   "What a promotion writes into the kustomization has no effect, or another one than it expects.",
		Evidence: "status.sourceType of the Application",
		Fix:      "Take spec.source.directory, helm or plugin out of the Application, so that Argo CD finds the kustomization itself.",
	}}
}

// findOutside is content where Argo CD has rendered this very commit.
func findOutside(f Facts) []event.Finding {
	const option = "--load-restrictor LoadRestrictionsNone"
	if len(f.Outside) == 0 || f.compared() || strings.Contains(f.Setup.BuildOptions, "LoadRestrictionsNone") {
		return nil
	}
	at := f.inKustomization()
	finding := event.Finding{
		Problem:  fmt.Sprintf("overlay %s reads %s, beside the kustomization that names it", f.Request.Overlay, strings.Join(f.Outside, ", ")),
		Effect:   "Argo CD renders it only with " + option + ", and what its options are is not known here.",
		Evidence: "kustomize reads files from a kustomization's own folder and below alone, unless it is told otherwise.",
		Fix: "Give the file's folder a kustomization, and name that folder in resources. Or let Argo CD's kustomize read the whole repository, for all Applications:\n" +
			`kubectl -n argocd patch configmap argocd-cm --type merge -p '{"data": {"kustomize.buildOptions": "` + option + `"}}'`,
		File: at.File, Line: at.Line,
	}
	if source, _ := f.source(); source != nil && f.Setup.Overrides != nil && (source.Kustomize == nil || source.Kustomize.Version == "") {
		finding.Severity = event.SeverityError
		finding.Effect = "Argo CD cannot render the overlay, so that no commit of a promotion becomes live."
		finding.Evidence += fmt.Sprintf(" kustomize.buildOptions of argocd-cm: %q", f.Setup.BuildOptions)
	}
	return []event.Finding{finding}
}

// findGeneratePaths knows that Argo CD takes a commit that touches none of the
// paths for one that changes nothing, and calls it Synced.
func findGeneratePaths(f Facts) []event.Finding {
	source, _ := f.source()
	if source == nil {
		return nil
	}
	value, set := f.Setup.App.Annotations[v1alpha1.AnnotationKeyManifestGeneratePaths]
	if !set || value == "" {
		return nil
	}
	overlay := strings.Trim(path.Clean("/"+source.Path), "/")
	for part := range strings.SplitSeq(value, ";") {
		if covered(strings.TrimSpace(part), overlay) {
			return nil
		}
	}
	return []event.Finding{{
		Problem:  fmt.Sprintf("%s of Application %s leaves out the overlay", v1alpha1.AnnotationKeyManifestGeneratePaths, f.application()),
		Effect:   "Argo CD takes a commit that touches none of these paths for one that changes nothing: it calls the promotion's commits Synced without applying them.",
		Evidence: fmt.Sprintf("%q does not cover %s", value, overlay),
		Fix:      "Name the overlay and its bases:\n" + f.annotateApplication(v1alpha1.AnnotationKeyManifestGeneratePaths, ".;../../base"),
	}}
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
