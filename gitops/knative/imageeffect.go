package knative

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// An ImageEffect is what comes of setting an image of the Service.
type ImageEffect struct {
	Moves []Companion // other objects that it gives another image, too
	Err   error       // why a promotion would not do it, whatever may move with it; nil: it would
}

// ImageEffects are those of the Service's images, by the name that the Service runs
// them by.
func ImageEffects(ctx context.Context, s *State) (map[string]ImageEffect, error) {
	entries, err := entriesOf(s)
	if err != nil {
		return nil, err
	}
	found := map[string]ImageEffect{}
	for _, image := range AllImages(s) {
		name, tag, _ := kustomize.SplitImage(image)
		if name == "" {
			continue // a check of its own finds a container without an image
		}
		found[name] = imageEffectOf(ctx, s, kustomize.Image{Name: name, NewTag: tag})
		for _, entry := range slices.Sorted(maps.Keys(entries)) {
			if found[name].Err == nil || !entries[entry].Shows(image) {
				continue
			}
			// several entries can make one image: it can be asked for by one of them
			if by := imageEffectOf(ctx, s, kustomize.Image{Name: entry, NewName: entries[entry].NewName, NewTag: tag}); by.Err == nil {
				found[name] = by
			}
		}
	}
	return found, ctx.Err()
}

// imageEffectOf is that of one way to ask for an image, with another tag of the form of its own.
func imageEffectOf(ctx context.Context, s *State, image kustomize.Image) ImageEffect {
	image.NewTag, _ = otherTag(cmp.Or(image.NewTag, "v1"))
	next, err := s.SetImages(ctx, []kustomize.Image{image})
	if err != nil {
		return ImageEffect{Err: err}
	}
	effect := ImageEffect{Moves: Companions(s, next)}
	expected := Expected{Images: []kustomize.Image{image}}
	for _, c := range effect.Moves {
		expected.Also = append(expected.Also, c.Name)
	}
	for _, check := range []func(before, after *State, expected Expected) error{checkOthers, checkService, checkImages} {
		if effect.Err == nil {
			effect.Err = check(s, next, expected)
		}
	}
	return effect
}
