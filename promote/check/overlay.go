package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/event"
)

// overlayRules are about the overlay's files.
func overlayRules() []Rule {
	return []Rule{
		{
			ID: "labels-in-selector", Severity: event.SeverityWarning, Find: findSelector,
			Summary: "labels that kustomize also writes into a selector, which Knative Services do not have",
			Link:    "https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/labels",
		},
		{
			ID: "image-by-tag", Severity: event.SeverityInfo, Find: findTags,
			Summary: "an image without a digest",
			Link:    "https://knative.dev/docs/serving/tag-resolution/",
		},
		{
			ID: "image-shared", Severity: event.SeverityInfo, Find: findSharing,
			Summary: "other objects run an image of the Service, so that a promotion moves them too",
			Link:    "https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/images/",
		},
		{
			ID: "image-refused", Severity: event.SeverityWarning, Find: findUnsettable,
			Summary: "an image of the Service that a promotion cannot set",
			Link:    "https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/images/",
		},
		{
			ID: "image-entry-unused", Severity: event.SeverityWarning, Find: findUnusedImages,
			Summary: "an entry of images: that no image of the overlay goes by",
			Link:    "https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/images/",
		},
		{
			ID: "secret-in-git", Severity: event.SeverityWarning, Find: findSecrets,
			Summary: "the overlay renders a Secret with its values",
			Link:    "https://argo-cd.readthedocs.io/en/stable/operator-manual/secret-management/",
		},
		{
			ID: "secret-encrypted", Severity: event.SeverityWarning, Find: findEncrypted,
			Summary: "the overlay renders a Secret that SOPS has encrypted, which nobody decrypts",
			Link:    "https://argo-cd.readthedocs.io/en/stable/operator-manual/secret-management/",
		},
	}
}

// selector is where kustomize writes commonLabels into what it takes for a
// plain Service: https://github.com/kubernetes-sigs/kustomize/blob/master/api/internal/konfig/builtinpluginconsts/commonlabels.go
const selector = "/spec/selector"

func findSelector(f Facts) []event.Finding {
	if f.Overlay == nil || f.syncStatus() == v1alpha1.SyncStatusCodeSynced || f.overlooks(selector) {
		return nil
	}
	all, err := f.Overlay.Respellings()
	if err != nil {
		return nil
	}
	for _, r := range all {
		if r.Path != selector {
			continue
		}
		at := f.inLabels()
		finding := event.Finding{
			Problem: fmt.Sprintf("labels of the overlay get into spec.selector of Service %s", f.Overlay.Service()),
			Effect: "A Knative Service has no selector, so the API server drops it and the Application is out of sync after every sync. " +
				"A promotion never sees its commit live: it fails, and does not see the rollback live either.",
			Evidence: "The render has spec.selector, which kustomize adds for commonLabels, and for labels with includeSelectors.",
			Fix:      "Write them as labels:, without includeSelectors, in place of what is there:" + f.plainLabels(),
			File:     at.File, Line: at.Line,
		}
		if f.syncStatus() == v1alpha1.SyncStatusCodeOutOfSync && f.comparesAll() {
			finding.Severity = event.SeverityError
		}
		return []event.Finding{finding}
	}
	return nil
}

// inLabels is where the overlay's kustomization sets labels.
func (f Facts) inLabels() place {
	whole := f.inKustomization()
	for _, key := range []string{"commonLabels", "labels"} {
		if at := f.inKustomization(key); at.Line > 0 {
			return at
		}
	}
	return whole
}

// plainLabels are the labels of the overlay's kustomization, as they reach no
// selector; empty when it is another that sets them.
func (f Facts) plainLabels() string {
	if f.Tree == nil {
		return ""
	}
	k, err := kustomize.Read(f.Tree, f.Overlay.Overlay)
	if err != nil {
		return ""
	}
	//lint:ignore SA1019 kustomize still reads it
	pairs := maps.Clone(k.CommonLabels)
	for _, l := range k.Labels {
		if pairs == nil {
			pairs = map[string]string{}
		}
		maps.Copy(pairs, l.Pairs)
	}
	if len(pairs) == 0 {
		return ""
	}
	text, err := yaml.Marshal(map[string]any{"labels": []any{map[string]any{"pairs": pairs}}})
	if err != nil {
		return ""
	}
	return fmt.Sprintf("\n# in %s\n%s", f.inKustomization().File, text)
}

// findTags warns of images without even a tag of their own.
func findTags(f Facts) []event.Finding {
	service := rendered(f.Next)
	if service == nil {
		return nil
	}
	var found []event.Finding
	for i, c := range service.Spec.Template.Spec.Containers {
		name, tag, digest := kustomize.SplitImage(c.Image)
		if digest != "" || name == "" {
			continue
		}
		at := f.inImages(name, i)
		finding := event.Finding{
			Problem: fmt.Sprintf("Service %s runs %s, without a digest", f.Next.Service(), c.Image),
			Effect: "Knative looks the tag up when it makes a revision, and only then. Where the tag has moved since, a promotion of it finds " +
				"nothing to do, and a rollback to a revision that was garbage-collected gets another image.",
			Evidence: fmt.Sprintf("spec.template.spec.containers[%d].image", i),
			Fix:      fmt.Sprintf("Promote by digest, in the input image:\n%s@sha256:…", name),
			File:     at.File, Line: at.Line,
		}
		if tag == "" || tag == "latest" {
			finding.Severity = event.SeverityWarning
			finding.Problem = fmt.Sprintf("Service %s runs %s, a tag that moves", f.Next.Service(), c.Image)
		}
		found = append(found, finding)
	}
	return found
}

// inImages is the overlay's entry for an image, or where the container names
// it.
func (f Facts) inImages(name string, container int) place {
	for i, entry := range f.images() {
		if cmp.Or(entry.NewName, entry.Name) == name {
			return f.inKustomization("images", i)
		}
	}
	return f.inService("spec", "template", "spec", "containers", container, "image")
}

// images are the entries of the overlay's kustomization.
func (f Facts) images() []kustomize.Image {
	if f.Overlay == nil {
		return nil
	}
	_, content, err := f.Overlay.Kustomization()
	if err != nil {
		return nil
	}
	images, err := kustomize.Images(content)
	if err != nil {
		return nil
	}
	return images
}

// findUnusedImages takes an entry for used where anything in the render can be
// what it made: which fields are images can be configured.
func findUnusedImages(f Facts) []event.Finding {
	var rendered []string
	for _, o := range objects(f.Overlay) {
		rendered = texts(o.Object, rendered)
	}
	var found []event.Finding
	for i, entry := range f.images() {
		if entry.TagSuffix != "" || slices.ContainsFunc(rendered, entry.Shows) {
			continue
		}
		at := f.inKustomization("images", i)
		found = append(found, event.Finding{
			Problem: fmt.Sprintf("the entry %s of images: changes nothing in overlay %s", entry.Name, f.Overlay.Overlay),
			Effect: "What it is meant to set keeps the image that the base names. The name must be the image's in the base, without its tag, " +
				"and so must the name in the input image.",
			Evidence: fmt.Sprintf("no image of the render is %s", entry),
			Fix:      "Correct the entry's name, or take the entry out.",
			File:     at.File, Line: at.Line,
		})
	}
	return found
}

// texts adds all strings of a value.
func texts(value any, found []string) []string {
	switch value := value.(type) {
	case string:
		return append(found, value)
	case map[string]any:
		for _, v := range value {
			found = texts(v, found)
		}
	case []any:
		for _, v := range value {
			found = texts(v, found)
		}
	}
	return found
}
