package check

import (
	"cmp"
	"maps"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
)

// overlayRules are about the overlay's files.
func overlayRules() []Rule {
	return []Rule{
		rule(ruleSelector, findSelector), rule("image-by-tag", findTags), rule("image-shared", findSharing), rule("image-refused", findUnsettable),
		rule("image-entry-unused", findUnusedImages), rule("secret-in-git", findSecrets), rule("secret-encrypted", findEncrypted), rule("builds-on-promoted", findPromotedBelow),
		rule("made-by-knative", findMade), rule("route-follows", findFollowing), rule("object-twice", findTwice), rule("application-too-large", findLarge),
		rule("service-version", findOtherVersions),
	}
}

// selector is where kustomize writes commonLabels into what it takes for a
// plain Service: https://github.com/kubernetes-sigs/kustomize/blob/master/api/internal/konfig/builtinpluginconsts/commonlabels.go
const selector = "/spec/selector"

func findSelector(f Facts) []found {
	if f.sync().status() == v1alpha1.SyncStatusCodeSynced || overlooks(f, selector) {
		return nil
	}
	all, err := knative.Respellings(f.Overlay)
	if err != nil || !slices.ContainsFunc(all, func(r knative.Respelling) bool { return r.Path == selector }) {
		return nil
	}
	certain := f.sync().status() == v1alpha1.SyncStatusCodeOutOfSync && comparesAll(f)
	return []found{{severity: errorIf(certain), at: inLabels(f), values: values{"Labels": plainLabels(f)}}}
}

// inLabels is where the overlay's kustomization sets labels.
func inLabels(f Facts) place {
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
func plainLabels(f Facts) string {
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
	return string(text)
}

// findTags warns of images without even a tag of their own.
func findTags(f Facts) []found {
	var all []found
	for i, c := range rendered(f.Next).Spec.Template.Spec.Containers {
		name, tag, digest := kustomize.SplitImage(c.Image)
		if digest != "" || name == "" {
			continue
		}
		moves := tag == "" || tag == "latest"
		all = append(all, found{severity: warningIf(moves), at: inImages(f, name, i), values: values{"Image": c.Image, "Name": name, "Container": i, "Moves": moves}})
	}
	return all
}

// inImages is the overlay's entry for an image, or where the container names
// it.
func inImages(f Facts, name string, container int) place {
	for i, entry := range imageEntries(f.Overlay) {
		if cmp.Or(entry.NewName, entry.Name) == name {
			return f.inKustomization("images", i)
		}
	}
	return f.inService("spec", "template", "spec", "containers", container, "image")
}

// imageEntries are those of the overlay's kustomization.
func imageEntries(overlay *knative.State) []kustomize.Image {
	if overlay == nil {
		return nil
	}
	_, content, err := overlay.Kustomization()
	if err != nil {
		return nil
	}
	images, err := kustomize.Images(content)
	if err != nil {
		return nil
	}
	return images
}

func findUnusedImages(f Facts) []found {
	var rendered []string
	for _, o := range objects(f.Overlay) {
		rendered = texts(o.Object, rendered)
	}
	var all []found
	for i, entry := range imageEntries(f.Overlay) {
		if entry.TagSuffix == "" && !slices.ContainsFunc(rendered, entry.Shows) {
			all = append(all, found{at: f.inKustomization("images", i), values: values{"Entry": entry}})
		}
	}
	return all
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
