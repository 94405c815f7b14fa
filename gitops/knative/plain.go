package knative

import (
	"bytes"
	"context"
	"fmt"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// renderPlain renders the Service without the tool's own patches. Where somebody's later patch
// or replacement needs the revision's name or the traffic that they bring, these are there, but
// for the name's text: no revision may be named by that of another one.
func renderPlain(ctx context.Context, s *State) (object, error) {
	file, kustomization, err := s.Kustomization()
	if err != nil {
		return nil, err
	}
	plain, err := kustomize.RemovePatch(kustomization, routeName(s), defaultsName(s))
	if err != nil {
		return nil, err
	}
	if bytes.Equal(plain, kustomization) {
		return s.service, nil
	}
	service, err := serviceWith(ctx, s, map[string][]byte{file: plain})
	if err == nil || ctx.Err() != nil {
		return service, err
	}
	if plain, err = kustomize.RemovePatch(kustomization, defaultsName(s)); err != nil {
		return nil, err
	}
	unnamed, err := withoutName(s)
	if err != nil {
		return nil, err
	}
	service, err = serviceWith(ctx, s, map[string][]byte{file: plain, routePath(s): unnamed})
	if err != nil {
		return nil, fmt.Errorf("a revision is named by the template without %s and %s, and a later patch or a replacement needs what they bring: take that out, or list it before them: %w",
			routeName(s), defaultsName(s), err)
	}
	return service, nil
}

// serviceWith is the Service as it renders with these files on top.
func serviceWith(ctx context.Context, s *State, files map[string][]byte) (object, error) {
	manifest, err := kustomize.Render(ctx, filesOf(s, files), s.Overlay)
	if err != nil {
		return nil, err
	}
	objects, err := decode(manifest)
	if err != nil {
		return nil, err
	}
	return find(withoutNotes(objects), s.name)
}

// withoutName is the tool's patch with the traffic as it renders, and an empty name.
func withoutName(s *State) ([]byte, error) {
	target, err := PatchTarget(s)
	if err != nil {
		return nil, err
	}
	traffic, err := s.Traffic()
	return patchFile(target.Name, `""`, traffic, nil), err
}
