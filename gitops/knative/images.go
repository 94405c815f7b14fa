package knative

import (
	"context"
	"fmt"
	"slices"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// SetContainers is the State whose containers and init containers run these
// images, in their order, as far as the overlay's kustomization sets them: what a
// container runs by its base stays, as no promotion has set that.
func (s *State) SetContainers(ctx context.Context, images, initImages []string) (*State, error) {
	is, want := AllImages(s), slices.Concat(images, initImages)
	if slices.Equal(is, want) {
		return s, nil
	}
	if len(is) != len(want) || len(s.Images()) != len(images) {
		return nil, fmt.Errorf("overlay %s: Service %s has %d containers, and %d images are to be set", s.Overlay, s.name, len(is), len(want))
	}
	entries, err := s.entries()
	if err != nil {
		return nil, err
	}
	var set []kustomize.Image
	for i, image := range want {
		if image == is[i] || !isSet(entries, is[i]) {
			want[i] = is[i]
			continue
		}
		entry, err := entryFor(entries, is[i], image)
		if err != nil {
			return nil, fmt.Errorf("overlay %s: %w", s.Overlay, err)
		}
		set = append(set, entry)
	}
	after, err := s.SetImages(ctx, set)
	if err != nil {
		return nil, err
	}
	if got := AllImages(after); !slices.Equal(got, want) {
		return nil, fmt.Errorf("overlay %s: Service %s would run %s instead of %s", s.Overlay, s.name, list(got), list(want))
	}
	return after, nil
}

// OwnImages are the images of the containers and init containers that the overlay's own
// kustomization sets; those of the others come from a base, or from a patch.
func OwnImages(s *State) []string {
	entries, err := s.entries()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(AllImages(s), func(image string) bool { return !isSet(entries, image) })
}

// isSet tells whether one of a kustomization's entries gives a container its image.
func isSet(entries map[string]kustomize.Image, image string) bool {
	for _, entry := range entries {
		if entry.Shows(image) {
			return true
		}
	}
	return false
}

// entryFor is the kustomization's entry that makes one image of another: the
// one that shows that, or a new one by its name.
func entryFor(entries map[string]kustomize.Image, is, want string) (kustomize.Image, error) {
	image, err := kustomize.ParseImage("x=" + want)
	if err != nil {
		return image, err
	}
	shown, err := kustomize.ParseImage("x=" + is)
	if err != nil {
		return image, err
	}
	image.Name = shown.NewName
	for name, entry := range entries {
		if entry.Shows(is) {
			image.Name = name
		}
	}
	if image.NewName == image.Name {
		image.NewName = ""
	}
	return image, nil
}
