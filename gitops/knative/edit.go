package knative

import (
	"context"
	"fmt"
	"io/fs"
	"path"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// SetImages is the State with these images set in the overlay's kustomization.
func (s *State) SetImages(ctx context.Context, images []kustomize.Image) (*State, error) {
	file, kustomization, err := s.Kustomization()
	if err != nil {
		return nil, err
	}
	edited, err := kustomize.SetImage(kustomization, images...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s.with(ctx, map[string][]byte{file: edited})
}

// RestoreImages is the State with the images: entries that either kustomization
// has as they are in the other State. Entries that no longer exist there go.
func (s *State) RestoreImages(ctx context.Context, from *State) (*State, error) {
	file, kustomization, err := s.Kustomization()
	if err != nil {
		return nil, err
	}
	_, old, err := from.Kustomization()
	if err != nil {
		return nil, err
	}
	names, err := changedImages(kustomization, old)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	restored, err := kustomize.RestoreImages(kustomization, old, names...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s.with(ctx, map[string][]byte{file: restored})
}

// changedImages names the entries that differ between two kustomizations.
func changedImages(a, b []byte) ([]string, error) {
	was, err := kustomize.Images(b)
	if err != nil {
		return nil, err
	}
	is, err := kustomize.Images(a)
	if err != nil {
		return nil, err
	}
	before := map[string]kustomize.Image{}
	for _, image := range was {
		before[image.Name] = image
	}
	var names []string
	for _, image := range is {
		if old, ok := before[image.Name]; !ok || old != image {
			names = append(names, image.Name)
		}
		delete(before, image.Name)
	}
	for _, image := range was {
		if _, gone := before[image.Name]; gone {
			names = append(names, image.Name)
		}
	}
	return names, nil
}

// Route is the State with this revision name and traffic, in the tool's own
// patches. Live is the Service as the cluster has defaulted it; nil when it is
// not known.
func (s *State) Route(ctx context.Context, revision string, traffic []servingv1.TrafficTarget, live *servingv1.Service) (*State, error) {
	ops, err := missingDefaults(s.plain, revision, live)
	if err != nil {
		return nil, fmt.Errorf("overlay %s: %w", s.Overlay, err)
	}
	if live == nil {
		if ops, err = s.keep(ops, revision); err != nil {
			return nil, fmt.Errorf("overlay %s: %w", s.Overlay, err)
		}
	}
	defaults, err := defaultsFile(ops)
	if err != nil {
		return nil, err
	}
	after, err := s.own(ctx, func(name string) [][]byte {
		return [][]byte{patchFile(name, revision, traffic), defaults}
	})
	if err != nil {
		return nil, err
	}
	after.live = live
	return after, nil
}

// RestoreRoute is the State with the tool's own patches as they are in the
// other State; without them when that one has none.
func (s *State) RestoreRoute(ctx context.Context, from *State) (*State, error) {
	return s.own(ctx, func(string) [][]byte {
		contents := make([][]byte, 2)
		for i, file := range from.ownFiles() {
			if content, err := fs.ReadFile(from.fs(nil), file); err == nil {
				contents[i] = content
			}
		}
		return contents
	})
}

// own writes the tool's files and registers them, in order, as the last
// patches; nil contents are removed.
func (s *State) own(ctx context.Context, contents func(name string) [][]byte) (*State, error) {
	file, kustomization, err := s.Kustomization()
	if err != nil {
		return nil, err
	}
	name, err := s.nameBefore(kustomization)
	if err != nil {
		return nil, err
	}
	target := kustomize.Target{Group: "serving.knative.dev", Version: "v1", Kind: "Service", Name: name}
	files := map[string][]byte{}
	for i, content := range contents(name) {
		own := s.ownFiles()[i]
		files[own] = content
		if content == nil {
			kustomization, err = kustomize.RemovePatch(kustomization, path.Base(own))
		} else {
			kustomization, err = kustomize.AddPatch(kustomization, path.Base(own), target)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	files[file] = kustomization
	return s.with(ctx, files)
}
