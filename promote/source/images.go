package source

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/setting"
)

// imagesFrom are the images of a source under the names that the target has for
// them, by the digests that the source's live revision runs.
func imagesFrom(source Observed, target *knative.State) ([]kustomize.Image, error) {
	pairs, err := knative.Pairs(target, source.Now)
	if err != nil {
		return nil, setting.Bad("from: containers of %s and %s: %w: expected the same containers, by name", source.Overlay, target.Overlay, err)
	}
	here, there := slices.Concat(target.Images(), target.InitImages()), slices.Concat(source.Now.Images(), source.Now.InitImages())
	var images []kustomize.Image
	for i, match := range pairs {
		if match < 0 {
			return nil, setting.Bad("from: %s has no container for the one of %s that runs %s: expected the same containers, by name", source.Overlay, target.Overlay, here[i])
		}
		image := taken(there[match], source.digest(match), here[i])
		if image.NewTag == "" && image.Digest == "" {
			return nil, setting.Bad("from: %s runs %s in container %d, and Knative gives no digest: expected a tag or a digest there", source.Overlay, there[match], match+1)
		}
		if other := slices.IndexFunc(images, func(o kustomize.Image) bool { return o.Name == image.Name }); other < 0 {
			images = append(images, image)
		} else if images[other] != image {
			return nil, setting.Bad("from: containers of %s would need %s and %s of one image: expected a name for each in container %d of %s",
				target.Overlay, images[other], image, i+1, target.Overlay)
		}
	}
	return images, nil
}

// ImagesOfAll are those of several sources, which must run the same ones.
func ImagesOfAll(sources []Observed, target *knative.State) ([]kustomize.Image, error) {
	var images []kustomize.Image
	for i, source := range sources {
		own, err := imagesFrom(source, target)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			images = own
		}
		for j, image := range own {
			if !sameImage(image, images[j]) {
				return nil, &NotYetError{From: source.Overlay, Reason: fmt.Sprintf("it runs %s, and %s runs %s", image, sources[0].Overlay, images[j])}
			}
		}
	}
	return images, nil
}

// sameImage tells whether two sources run the same: by the digests, whatever the
// tags, and where there is none by all that is known.
func sameImage(a, b kustomize.Image) bool {
	if a.Digest != "" && b.Digest != "" {
		return a.Name == b.Name && a.Digest == b.Digest
	}
	return a == b
}

// taken is the image that a container gets: its own name with the tag of the
// source's image and the digest that runs there.
func taken(source, running, own string) kustomize.Image {
	_, tag, digest := kustomize.SplitImage(source)
	name, _, _ := kustomize.SplitImage(own)
	if running != "" {
		digest = running
	}
	return kustomize.Image{Name: name, NewTag: tag, Digest: digest}
}

// digest is that of the image which the i-th container of a source runs; empty
// where Knative was told not to look it up.
func (s Observed) digest(i int) string {
	for _, a := range s.apps {
		if digest := runningDigest(a.seen.Revision, i); digest != "" {
			return digest
		}
	}
	return ""
}

// unlike tells whether the Applications of a source run different images under
// the same tag, as after a tag was pushed again.
func (s Observed) unlike() bool {
	for i := range len(s.Now.Images()) + len(s.Now.InitImages()) {
		for _, a := range s.apps {
			if digest := runningDigest(a.seen.Revision, i); digest != "" && digest != s.digest(i) {
				return true
			}
		}
	}
	return false
}

// runningDigest is the digest of the i-th container of a revision, init
// containers last.
func runningDigest(revision *servingv1.Revision, i int) string {
	if revision == nil {
		return ""
	}
	containers, statuses := revision.Spec.Containers, revision.Status.ContainerStatuses
	if i >= len(containers) {
		i, containers, statuses = i-len(containers), revision.Spec.InitContainers, revision.Status.InitContainerStatuses
	}
	if i >= len(containers) {
		return ""
	}
	return digestIn(statuses, containers[i])
}

func digestIn(statuses []servingv1.ContainerStatus, container corev1.Container) string {
	for _, s := range statuses {
		if s.Name == container.Name {
			_, _, digest := kustomize.SplitImage(s.ImageDigest)
			return digest
		}
	}
	return ""
}
