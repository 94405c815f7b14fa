package plan

import (
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"strings"
)

// NewImage is the first image that the promotion changes, or the first one
// there is.
func NewImage(now, next *knative.State) string {
	was, is := now.Images(), next.Images()
	for i := range is {
		if i >= len(was) || is[i] != was[i] {
			return is[i]
		}
	}
	return FirstImage(is)
}

// FirstImage is the first of a template's images; empty: it has none.
func FirstImage(images []string) string {
	if len(images) == 0 {
		return ""
	}
	return images[0]
}

// ImageVersion is an image's tag, or the beginning of its digest.
func ImageVersion(image string) string {
	_, tag, digest := kustomize.SplitImage(image)
	switch {
	case tag != "":
		return tag
	case digest != "":
		return digest[:min(len(digest), len("sha256:")+12)]
	}
	return "no tag"
}

// OtherImages says which images but the first container's are others in an overlay than before,
// as far as it can be told which container is which; empty: none.
func OtherImages(now, after *knative.State) string {
	pairs, err := knative.Pairs(after, now)
	if err != nil {
		return ""
	}
	was, is := knative.AllImages(now), knative.AllImages(after)
	var all []string
	for i, there := range pairs {
		if i > 0 && there >= 0 && is[i] != was[there] {
			all = append(all, was[there]+" to "+is[i])
		}
	}
	return strings.Join(all, ", ")
}
