package knative

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// Restored is an overlay with the images that an earlier version ran, in the containers that
// there are now. That is told by the overlay that had it, or where that is nil by its images
// and those of its init containers. What a container runs by its base stays, as no promotion
// has set that, and so does what there was not then. The error says which container no
// image can be told of.
func Restored(ctx context.Context, now, was *State, images, initImages []string) (*State, error) {
	want, ran, err := wanted(now, was, images, initImages)
	if err != nil {
		return nil, fmt.Errorf("overlay %s: %w", now.Overlay, err)
	}
	if was != nil { // its entries as they were, where they lead there
		if back, err := now.RestoreImages(ctx, was); err == nil && slices.Equal(AllImages(back), want) {
			return back, nil
		}
	}
	return setEach(ctx, now, want, ran)
}

// wanted are the images of an overlay's containers, in their order, that its own kustomization has to set for an earlier version,
// and those that ran then: what the overlay does not set may follow.
func wanted(now, was *State, images, initImages []string) (want, ran []string, err error) {
	is, then := containersOf(now), recorded(images, initImages)
	if was != nil {
		then = containersOf(was)
	}
	pairs, err := pair(is, then, was != nil)
	if err != nil {
		return nil, nil, err
	}
	own, ownThen := OwnImages(now), []string(nil)
	if was != nil {
		ownThen = OwnImages(was)
	}
	want, ran = AllImages(now), AllImages(now)
	for i, other := range pairs {
		if other >= 0 {
			ran[i] = then[other].image
		}
		if other >= 0 && (slices.Contains(own, is[i].image) || slices.Contains(ownThen, then[other].image)) {
			want[i] = then[other].image
		}
	}
	return want, ran, nil
}

// setEach is an overlay whose kustomization sets these images, in the containers' order. The others may come to be what ran.
func setEach(ctx context.Context, s *State, want, ran []string) (*State, error) {
	entries, err := entriesOf(s)
	if err != nil {
		return nil, err
	}
	var set []kustomize.Image
	for i, is := range AllImages(s) {
		if want[i] == is {
			continue
		}
		name, err := setter(ctx, s, entries, i)
		if err != nil {
			return nil, err
		}
		entry, err := entryFor(name, is, want[i])
		if err != nil {
			return nil, fmt.Errorf("overlay %s: %w", s.Overlay, err)
		}
		set = append(set, entry)
	}
	if len(set) == 0 {
		return s, nil
	}
	after, err := s.SetImages(ctx, set)
	if err != nil {
		return nil, err
	}
	got := AllImages(after)
	for i := range got {
		if len(got) == len(want) && got[i] == ran[i] {
			want[i] = ran[i]
		}
	}
	if !slices.Equal(got, want) {
		return nil, fmt.Errorf("overlay %s: Service %s would run %s instead of %s", s.Overlay, s.name, list(got), list(want))
	}
	return after, nil
}

// OwnImages are the images of the containers and init containers that the overlay's own
// kustomization sets; those of the others come from a base, or from a patch.
func OwnImages(s *State) []string {
	entries, err := entriesOf(s)
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

// setter is the name of the entry that gives a container its image, by the container's place; empty: none does. Several entries may
// show one image, and the one whose change is seen there is it.
func setter(ctx context.Context, s *State, entries map[string]kustomize.Image, place int) (string, error) {
	is := AllImages(s)[place]
	var names []string
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if entries[name].Shows(is) {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, ""), nil
	}
	for _, name := range names {
		other := entries[name]
		other.NewTag, other.Digest = otherPart(12), ""
		after, err := s.SetImages(ctx, []kustomize.Image{other})
		if ctx.Err() != nil {
			return "", err
		}
		if err == nil && AllImages(after)[place] != is { // one of a pattern cannot be set
			return name, nil
		}
	}
	return names[0], nil
}

// entryFor is the kustomization's entry that makes one image of another: the one of a name, or a new one by the image's.
func entryFor(name, is, want string) (kustomize.Image, error) {
	image, err := kustomize.ParseImage("x=" + want)
	if err != nil {
		return image, err
	}
	shown, err := kustomize.ParseImage("x=" + is)
	if err != nil {
		return image, err
	}
	if image.Name = cmp.Or(name, shown.NewName); image.NewName == image.Name {
		image.NewName = ""
	}
	return image, nil
}
