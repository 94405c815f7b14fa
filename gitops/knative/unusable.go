package knative

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

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

// A Trial is what edits are tried with, beside what is made up.
type Trial struct {
	Tags     []string  // that the candidate may have
	Versions []Version // that a rollback may lead to
}

// A Version is a revision, and the images that the containers ran there; none: they are not known.
type Version struct {
	Revision           string
	Images, InitImages []string
}

// Tried are why edits fail, each in its place; the first is why none can be made.
type Tried []error

// Failed tells whether one of them fails.
func (t Tried) Failed() bool {
	return slices.ContainsFunc(t, func(err error) bool { return err != nil })
}

// Beside is why one of them fails that was not tried before, or did not fail then. Where none can be made now, as before, nothing is worse.
func (t Tried) Beside(before Tried) error {
	if before[0] != nil && t[0] != nil {
		return nil
	}
	for i, err := range t {
		if err != nil && (i >= len(before) || before[i] == nil) {
			return err
		}
	}
	return nil
}

// TryEdits makes, of the files of what was [Rendered] and in memory, the edits that promotions and
// rollbacks make, and says why each of them fails or does not show what it is meant to.
func TryEdits(ctx context.Context, s *State, with Trial) Tried {
	read, err := editable(ctx, s)
	if err != nil {
		return Tried{err}
	}
	made, wrong := withOthers(ctx, read, nil)
	if wrong != nil {
		made = others{} // which says nothing of an edit
	}
	tried := Tried{nil, wrong, CheckOwn(read), executable(read)}
	for _, tag := range with.Tags {
		err := tryShift(ctx, read, made, tag)
		if err != nil {
			err = fmt.Errorf("tried with images and revisions that are made up: %w", err)
		}
		tried = append(tried, err)
	}
	for _, version := range with.Versions {
		err := tryReversal(ctx, read, made, version, with.Tags)
		if err != nil {
			err = fmt.Errorf("tried with a rollback to %s: %w", version.Revision, err)
		}
		tried = append(tried, err)
	}
	return tried
}

// editable is a State as a run reads it, if runs can write its files.
func editable(ctx context.Context, s *State) (*State, error) {
	if s.unplain != nil {
		return nil, s.unplain
	}
	_, kustomization, err := s.Kustomization()
	if err != nil {
		return nil, err
	}
	if folder, err := kustomize.Folder(s.tree, s.Overlay); err != nil || folder != path.Clean(s.Overlay) {
		return nil, fmt.Errorf("overlay %s is reached by a symbolic link, expected a folder: no run writes through one", s.Overlay)
	}
	for _, name := range filesOfRuns(s) {
		if err := NoLink(s.tree, name); err != nil {
			return nil, err
		}
	}
	if err := tryPatches(s, kustomization); err != nil {
		return nil, fmt.Errorf("%s: %w", filesOfRuns(s)[0], err)
	}
	return Read(ctx, s.tree, s.Overlay, s.name)
}

// filesOfRuns are the files that runs write.
func filesOfRuns(s *State) []string {
	file, _, _ := s.Kustomization() // it is there, or nothing is edited
	return []string{file, routePath(s), defaultsPath(s)}
}

// executable is an error where a file is none that every run can write: a forge's API makes plain files alone.
func executable(s *State) error {
	for _, name := range filesOfRuns(s) {
		info, err := fs.Lstat(s.tree, name)
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return fmt.Errorf("%s may be executed, and with the input commit: api no run can write such a file: take that right away (git update-index --chmod=-x)", name)
		}
	}
	return nil
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

// tryShift sets the images to others, and the traffic to revisions that nothing has.
func tryShift(ctx context.Context, s *State, made others, tag string) error {
	images, err := otherImages(s)
	if err != nil {
		return err
	}
	next, err := s.SetImages(ctx, images)
	if err != nil {
		return err
	}
	revision, err := revisionName(next.plain, 1)
	if err != nil {
		return err
	}
	split := peoples(s, tag)
	split.Stable, split.Candidate, split.Percent = s.name+"-another", revision, 10
	traffic := split.Targets(tag, false)
	after, expected, err := tryRoute(ctx, next, revision, traffic, tag)
	if err != nil {
		return err
	}
	for _, c := range Companions(s, after) {
		expected.Also = append(expected.Also, c.Name)
	}
	if err := Check(s, after, expected); err != nil {
		return err
	}
	return made.check(ctx, s, after, nil)
}

// tryRoute writes the name of the revision and the traffic, and tells what is to be shown of it.
func tryRoute(ctx context.Context, s *State, revision string, traffic []servingv1.TrafficTarget, tag string) (*State, Expected, error) {
	after, err := s.Route(ctx, revision, traffic, s.Record(), nil)
	if err != nil {
		return nil, Expected{}, err
	}
	if rendered, err := after.Traffic(); err == nil && Holds(rendered, traffic, tag, PreviousTag) {
		traffic = rendered // a later patch may add to it at 0 %
	}
	return after, Expected{Revision: revision, Traffic: traffic}, nil
}

// otherImages are other ones for the entries of images: that the Service shows. One whose name
// no image has, as of a pattern, no run sets.
func otherImages(s *State) (images []kustomize.Image, err error) {
	listed, err := kustomize.Read(s.tree, s.Overlay) // also those of the field imageTags
	if err != nil {
		return nil, err
	}
	for _, i := range listed.Images {
		tag, _ := otherTag(cmp.Or(i.NewTag, "v1"))
		other := "=*:" + tag
		if i.Digest != "" {
			other = "=*:*@sha256:" + otherHash()
		}
		image, err := kustomize.ParseImage(i.Name + other)
		if err == nil && runsEntry(s, kustomize.Image{Name: i.Name, NewName: i.NewName, NewTag: i.NewTag, Digest: i.Digest}) {
			images = append(images, image)
		}
	}
	return images, nil
}
