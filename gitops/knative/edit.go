package knative

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// SetImages is the State with these images set in the overlay's kustomization:
// in the entry whose newName an image is asked for by, if it is that entry that
// the Service shows, else in one of the image's own name.
func (s *State) SetImages(ctx context.Context, images []kustomize.Image) (*State, error) {
	file, kustomization, err := s.Kustomization()
	if err != nil {
		return nil, err
	}
	set := slices.Clone(images)
	for i, image := range images {
		if set[i], err = kustomize.InEntry(kustomization, image); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	next, err := setImages(ctx, s, set)
	if err != nil || slices.Equal(set, images) {
		return next, err
	}
	entries, err := entriesOf(next)
	if err != nil {
		return nil, err
	}
	for i := range set {
		if !runsEntry(next, entries[set[i].Name]) {
			set[i] = images[i]
		}
	}
	return setImages(ctx, s, set)
}

// setImages is the State with just these entries set.
func setImages(ctx context.Context, s *State, images []kustomize.Image) (*State, error) {
	file, kustomization, err := s.Kustomization()
	if err != nil {
		return nil, err
	}
	edited, err := kustomize.SetImage(kustomization, images...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return withFiles(ctx, s, map[string][]byte{file: edited})
}

// RestoreImages is the State with the Service's entries in images: as they are
// in the other State. Entries that do not exist there go. Entries that no
// container of the Service shows are somebody else's and stay.
func (s *State) RestoreImages(ctx context.Context, from *State) (*State, error) {
	file, kustomization, err := s.Kustomization()
	if err != nil {
		return nil, err
	}
	_, old, err := from.Kustomization()
	if err != nil {
		return nil, err
	}
	names, err := changedImages(s, from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	restored, err := kustomize.RestoreImages(kustomization, old, names...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return withFiles(ctx, s, map[string][]byte{file: restored})
}

// changedImages names the Service's entries that differ from another State's.
func changedImages(s *State, from *State) ([]string, error) {
	is, err := entriesOf(s)
	if err != nil {
		return nil, err
	}
	was, err := entriesOf(from)
	if err != nil {
		return nil, err
	}
	var names []string
	for name, entry := range is {
		if old, there := was[name]; (!there || old != entry) && runsEntry(s, entry) {
			names = append(names, name)
		}
	}
	for name, entry := range was {
		if _, there := is[name]; !there && runsEntry(from, entry) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// imageEntries are the kustomization's images:, in its order.
func imageEntries(s *State) ([]kustomize.Image, error) {
	_, kustomization, err := s.Kustomization()
	if err != nil {
		return nil, err
	}
	return kustomize.Images(kustomization)
}

// entriesOf are the same by name.
func entriesOf(s *State) (map[string]kustomize.Image, error) {
	images, err := imageEntries(s)
	if err != nil {
		return nil, err
	}
	entries := map[string]kustomize.Image{}
	for _, image := range images {
		entries[image.Name] = image
	}
	return entries, nil
}

// runsEntry tells whether a container of the Service shows the entry.
func runsEntry(s *State, entry kustomize.Image) bool {
	return slices.ContainsFunc(AllImages(s), entry.Shows)
}

// Route is the State with this revision name and traffic, in the tool's own
// patches, and the record beside them. Live is the Service as the cluster has
// defaulted it; nil when it is not known.
func (s *State) Route(ctx context.Context, revision string, traffic []servingv1.TrafficTarget, record []byte, live *servingv1.Service) (*State, error) {
	ops, err := missingDefaults(s.plain, revision, live)
	if err != nil {
		return nil, fmt.Errorf("overlay %s: %w", s.Overlay, err)
	}
	if live == nil {
		ops = keepOperations(s, ops, revision)
	}
	defaults, err := defaultsFile(ops)
	if err != nil {
		return nil, err
	}
	target, err := PatchTarget(s)
	if err != nil {
		return nil, err
	}
	after, err := ownFile(ctx, s, target, patchFile(target.Name, revision, traffic, record), defaults)
	if err != nil {
		return nil, err
	}
	after.live = live
	return after, nil
}

// RestoreRoute is the State with the tool's own patches as they are in the
// other State, but for the record; without them when that one has none.
func (s *State) RestoreRoute(ctx context.Context, from *State, record []byte) (*State, error) {
	target, err := PatchTarget(s)
	if err != nil {
		return nil, err
	}
	route, defaults := contentOf(from, routePath(from)), contentOf(from, defaultsPath(from))
	if route != nil {
		route = withRecord(route, record)
	}
	return ownFile(ctx, s, target, route, defaults)
}

// contentOf is nil for a file that is not there.
func contentOf(s *State, file string) []byte {
	content, err := fs.ReadFile(filesOf(s, nil), file)
	if err != nil {
		return nil
	}
	return content
}

// Record is the text in the comment lines of the tool's own patch; empty when
// there is none, or only behind a link.
func (s *State) Record() []byte {
	record, err := ReadRecord(filesOf(s, nil), s.Overlay, s.name)
	if err != nil {
		return nil
	}
	return record
}

// WithRecord is the State with another record, which renders the same.
func (s *State) WithRecord(ctx context.Context, record []byte) (*State, error) {
	file := routePath(s)
	patch, err := fs.ReadFile(filesOf(s, nil), file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	after, err := withFiles(ctx, s, map[string][]byte{file: withRecord(patch, record)})
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(after.Manifest, s.Manifest) {
		return nil, fmt.Errorf("writing the record into %s changes what the overlay renders", file)
	}
	return after, nil
}

// ownFile writes the tool's files and registers them, in this order, as the last
// patches of the target; nil contents are removed. What others have put above the
// first line of one stays there.
func ownFile(ctx context.Context, s *State, target kustomize.Target, route, defaults []byte) (*State, error) {
	file, kustomization, err := s.Kustomization()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{routePath(s): route, defaultsPath(s): defaults}
	for _, own := range []string{routePath(s), defaultsPath(s)} {
		if err := mayWrite(s, own, kustomization); err != nil {
			return nil, err
		}
		if files[own] == nil {
			kustomization, err = kustomize.RemovePatch(kustomization, path.Base(own))
		} else {
			old, _ := fs.ReadFile(s.tree, own) // there may be none
			above, _ := splitAbove(old)
			_, below := splitAbove(files[own])
			files[own] = slices.Concat(above, below)
			kustomization, err = kustomize.AddPatch(kustomization, path.Base(own), target)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	files[file] = kustomization
	return withFiles(ctx, s, files)
}

// Last is the State with the tool's own patch of the traffic behind all others too, so that its list replaces what
// they have added. It stays where it is as well: they need what it brings.
func Last(ctx context.Context, s *State) (*State, error) {
	file, kustomization, err := s.Kustomization()
	if err != nil {
		return nil, err
	}
	target, err := PatchTarget(s)
	if err != nil {
		return nil, err
	}
	if kustomization, err = kustomize.RepeatPatch(kustomization, routeName(s), target); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return withFiles(ctx, s, map[string][]byte{file: kustomization})
}

// written is how the tool's own files begin.
const written = "# Written by knative-promote"

// mayWrite refuses a file of somebody else's that has the name of one of the
// tool's own. One that is listed among the patches was the tool's.
func mayWrite(s *State, own string, kustomization []byte) error {
	content, err := fs.ReadFile(filesOf(s, nil), own)
	if _, below := splitAbove(content); err != nil || bytes.HasPrefix(below, []byte(written)) {
		return nil
	}
	without, err := kustomize.RemovePatch(kustomization, path.Base(own))
	if err == nil && bytes.Equal(without, kustomization) {
		err = fmt.Errorf("%s does not begin with %q: it is somebody else's file and would be overwritten; give it another name", own, written)
	}
	return err
}
