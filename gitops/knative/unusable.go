package knative

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// Unusable is why no run could edit what was [Rendered], whatever it wants: the Service is not
// there, its name is that of several, or it has a field of a wrong type. The error wraps
// [ErrNoService] where it is not there.
func Unusable(s *State) error {
	if s.unread != nil {
		return s.unread
	}
	_, err := s.Traffic()
	return err
}

// TryEdits makes, of the files of what was [Rendered] and in memory, the edits that promotions and
// rollbacks make, and says why one of them fails. It renders nothing.
func TryEdits(s *State) error {
	if s.unplain != nil {
		return s.unplain
	}
	file, kustomization, err := s.Kustomization()
	if err != nil {
		return err
	}
	if folder, err := kustomize.Folder(s.tree, s.Overlay); err != nil || folder != path.Clean(s.Overlay) {
		return fmt.Errorf("overlay %s is reached by a symbolic link, expected a folder: no run writes through one", s.Overlay)
	}
	for _, name := range []string{file, routePath(s), defaultsPath(s)} {
		if err := plainFile(s.tree, name); err != nil {
			return err
		}
	}
	for _, try := range []func(*State, []byte) error{tryPatches, tryImages} {
		if err := try(s, kustomization); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// plainFile is an error where a file is none that every run can write: a forge's API makes plain
// files alone. None at all is no error.
func plainFile(tree fs.FS, name string) error {
	info, err := fs.Lstat(tree, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking at %s: %w", name, err)
	case info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0:
		return fmt.Errorf("%s may be executed, and with the input commit: api no run can write such a file: take that right away (git update-index --chmod=-x)", name)
	}
	return NoLink(tree, name)
}

// tryPatches registers the tool's own files, and takes them out.
func tryPatches(s *State, kustomization []byte) error {
	target, err := PatchTarget(s)
	if err != nil {
		return err
	}
	edited := kustomization
	for _, own := range []string{routePath(s), defaultsPath(s)} {
		if err := mayWrite(s, own, kustomization); err != nil {
			return err
		}
		if edited, err = kustomize.AddPatch(edited, path.Base(own), target); err != nil {
			return err
		}
	}
	_, err = kustomize.RemovePatch(edited, routeName(s), defaultsName(s))
	return err
}

// tryImages sets each entry of images: that the Service shows to another image. One whose name
// no image has, as of a pattern, no run sets.
func tryImages(s *State, kustomization []byte) error {
	listed, err := kustomize.Read(s.tree, s.Overlay) // also those of the field imageTags
	if err != nil {
		return err
	}
	for _, i := range listed.Images {
		entry := kustomize.Image{Name: i.Name, NewName: i.NewName, NewTag: i.NewTag, Digest: i.Digest}
		other := "=*:another"
		if i.Digest != "" {
			other = "=*:*@sha256:" + strings.Repeat("0", 64)
		}
		image, err := kustomize.ParseImage(i.Name + other)
		if err != nil || !runsEntry(s, entry) {
			continue
		}
		if _, err := kustomize.SetImage(kustomization, image); err != nil {
			return err
		}
	}
	return nil
}
