package knative

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// State is one overlay of a tree and what it renders. It does not change: an
// edit returns another State.
type State struct {
	Overlay  string   // folder of the overlay, with symbolic links followed
	Manifest []byte   // what the overlay renders, as `kustomize build` prints it
	Misfits  []string // of Read: files of defaults that it has taken out, as the overlay does not render with them

	Broken error // why it does not render with the tool's own files, which are taken out; nil: it does

	tree    fs.FS
	files   map[string][]byte // edited files by path; nil: removed
	decoded []object          // Manifest, decoded
	objects []object          // the same without kustomize's notes, for comparing
	service object            // the Service among objects
	plain   object            // the Service as rendered without the tool's own patches
	name    string            // the Service's name as rendered
	unread  error             // of Rendered: why the Service is not known
	unplain error             // of Rendered: why it is not known without the tool's own patches

	live *servingv1.Service // the Service with this revision's template in the cluster; nil: not known
}

// Read renders the overlay and finds the Knative Service of this name in it,
// or the only one when the name is empty. A file of defaults that no longer fits the
// template stops no edit: it is taken out, as part of the edits.
func Read(ctx context.Context, tree fs.FS, overlay, service string) (*State, error) {
	// Argo CD follows symbolic links too. What is missing is said when it is rendered.
	if folder, err := kustomize.Folder(tree, overlay); err == nil {
		overlay = folder
	}
	s := &State{Overlay: overlay, tree: tree, name: service}
	state, err := withFiles(ctx, s, nil)
	if err == nil {
		return state, nil
	}
	files, misfits := withoutMisfits(ctx, tree, overlay)
	if len(misfits) == 0 {
		return nil, err
	}
	if state, err = withFiles(ctx, s, files); err == nil {
		state.Misfits = misfits
	}
	return state, err
}

// Rendered is an overlay that has been rendered already, for looking at its objects
// and at the Service of this name, which need not be there: an edit of it fails, and
// Unusable says why.
func Rendered(ctx context.Context, tree fs.FS, overlay string, manifest []byte, service string) (*State, error) {
	decoded, err := decode(manifest)
	if err != nil {
		return nil, fmt.Errorf("overlay %s: %w", overlay, err)
	}
	s := &State{Overlay: overlay, Manifest: manifest, tree: tree, files: map[string][]byte{}, decoded: decoded, name: service}
	if service == "" {
		return s, nil
	}
	if s.service, err = find(withoutNotes(decoded), service); err != nil {
		s.unread = fmt.Errorf("overlay %s: %w", overlay, err)
		return s, nil
	}
	if s.plain, err = renderPlain(ctx, s); err != nil {
		_, s.unplain = Read(ctx, tree, overlay, service) // which takes out what the next edit does
	}
	return s, nil
}

// withFiles returns the State with these files edited too, rendered again.
func withFiles(ctx context.Context, s *State, files map[string][]byte) (*State, error) {
	next := editedTo(s, files)
	if err := render(ctx, next); err != nil {
		return nil, fmt.Errorf("overlay %s: %w", s.Overlay, err)
	}
	return next, nil
}

// editedTo is the State with these files edited too, not yet rendered.
func editedTo(s *State, files map[string][]byte) *State {
	next := &State{Overlay: s.Overlay, tree: s.tree, name: s.name, files: maps.Clone(s.files)}
	if next.files == nil {
		next.files = map[string][]byte{}
	}
	maps.Copy(next.files, files)
	return next
}

func render(ctx context.Context, s *State) (err error) {
	if s.Manifest, err = kustomize.Render(ctx, filesOf(s, nil), s.Overlay); err != nil {
		return err
	}
	if s.decoded, err = decode(s.Manifest); err != nil {
		return err
	}
	s.objects = withoutNotes(s.decoded)
	if s.service, err = find(s.objects, s.name); err != nil {
		return err
	}
	s.name = s.service.text("metadata", "name")
	if err := NoLink(filesOf(s, nil), routePath(s)); err != nil {
		return err
	}
	s.plain, err = renderPlain(ctx, s)
	return err
}

// filesOf is the tree with the State's edits, and these on top.
func filesOf(s *State, more map[string][]byte) fs.FS {
	files := maps.Clone(s.files)
	maps.Copy(files, more)
	return edited{FS: s.tree, files: files}
}

// The names of the tool's own files.
const (
	ownPrefix      = "knative-promote-"
	routeSuffix    = ".yaml"
	defaultsSuffix = ".defaults.yaml" // no Service has a point in its name
)

func ownPath(overlay, service, suffix string) string {
	return path.Join(overlay, ownPrefix+service+suffix)
}

// routePath names the file of the revision's name and the traffic, defaultsPath that
// of what Knative would add to the template.
func routePath(s *State) string    { return ownPath(s.Overlay, s.name, routeSuffix) }
func defaultsPath(s *State) string { return ownPath(s.Overlay, s.name, defaultsSuffix) }

// routeName and defaultsName are the own files' names for people.
func routeName(s *State) string    { return path.Base(routePath(s)) }
func defaultsName(s *State) string { return path.Base(defaultsPath(s)) }

// Kustomization is the overlay's kustomization file, its path and content.
func (s *State) Kustomization() (file string, content []byte, err error) {
	return kustomizationOf(filesOf(s, nil), s.Overlay)
}

func kustomizationOf(tree fs.FS, overlay string) (file string, content []byte, err error) {
	name, err := kustomize.File(tree, overlay)
	if err != nil {
		return "", nil, err
	}
	file = path.Join(overlay, name)
	content, err = fs.ReadFile(tree, file)
	return file, content, err
}

// Service is the name of the Service as rendered.
func (s *State) Service() string { return s.name }

// Revision is the name that the rendered template gives its revision; empty
// lets Knative generate one.
func (s *State) Revision() string { return s.service.text("spec", "template", "metadata", "name") }

// NextRevision is the name that a revision of the template, as it stands
// without the tool's patches, has to have.
func (s *State) NextRevision() (string, error) { return revisionName(s.plain, 0) }

// Owned tells whether the tool has written the overlay's revision and traffic.
func (s *State) Owned() bool {
	content, err := fs.ReadFile(filesOf(s, nil), routePath(s))
	return err == nil && content != nil
}

// Made tells whether a revision was made of the template as it stands without
// the tool's patches. Only a name that the tool has given says so, by the hash
// of its template; of any other name it is not known.
func (s *State) Made(revision string) (made, known bool, err error) {
	next, err := s.NextRevision()
	if err != nil {
		return false, false, err
	}
	n, err := takenBefore(s.plain, revision)
	return n >= 0, sameForm(revision, next), err
}

// Traffic is the rendered traffic; empty stands for Knative's default, all to
// the latest ready revision.
func (s *State) Traffic() ([]servingv1.TrafficTarget, error) {
	service, err := typed(s.service)
	if err != nil {
		return nil, fmt.Errorf("overlay %s: %w", s.Overlay, err)
	}
	return service.Spec.Traffic, nil
}

// Images are the images of the template's containers, in order.
func (s *State) Images() []string { return imagesIn(s, "containers") }

// InitImages are the images of the template's init containers, in order.
func (s *State) InitImages() []string { return imagesIn(s, "initContainers") }

// ReadRecord is the Record of an overlay that is not rendered. The error wraps
// fs.ErrNotExist where the tool has written nothing.
func ReadRecord(tree fs.FS, overlay, service string) ([]byte, error) {
	file := ownPath(overlay, service, routeSuffix)
	if err := NoLink(tree, file); err != nil {
		return nil, fmt.Errorf("reading the record: %w", err)
	}
	patch, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, fmt.Errorf("reading the record: %w", err)
	}
	return takeApart(patch).record, nil
}

// NoLink is an error where a file is a symbolic link: what it leads to may be another overlay's,
// or be changed where nobody who guards the overlay sees it.
func NoLink(tree fs.FS, file string) error {
	if info, err := fs.Lstat(tree, file); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link, expected a file: put a copy of what it leads to in its place", file)
	}
	return nil
}

// RecordFile is the path of the file that holds the record.
func (s *State) RecordFile() string { return routePath(s) }

// AllImages are the images of all containers, init containers last.
func AllImages(s *State) []string { return append(s.Images(), s.InitImages()...) }

// imagesIn are the images of a list of containers.
func imagesIn(s *State, list string) []string {
	var images []string
	containers, _ := s.service.at("spec", "template", "spec", list).([]any)
	for _, c := range containers {
		container, _ := c.(map[string]any)
		image, _ := container["image"].(string)
		images = append(images, image)
	}
	return images
}

// SameTemplate tells whether both States' templates, without the tool's own
// patches, are the same.
func (s *State) SameTemplate(other *State) bool {
	a, errA := revisionName(s.plain, 0)
	b, errB := revisionName(other.plain, 0)
	return errA == nil && errB == nil && a == b
}

// Files are the edits since Read that really change the tree. A nil content
// removes the file.
func (s *State) Files() (map[string][]byte, error) {
	changed := map[string][]byte{}
	for name, content := range s.files {
		old, err := fs.ReadFile(s.tree, name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && content == nil:
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("reading %s: %w", name, err)
		case err == nil && content != nil && bytes.Equal(old, content):
		default:
			changed[name] = slices.Clone(content)
		}
	}
	return changed, nil
}

// nameBefore is the Service's name before this overlay's prefix and suffix:
// the name that its patches meet.
func nameBefore(s *State, kustomization []byte) (string, error) {
	prefix, suffix, err := kustomize.AddedToNames(kustomization)
	if err != nil {
		return "", fmt.Errorf("reading the names of %s: %w", s.Overlay, err)
	}
	name, hadPrefix := strings.CutPrefix(s.name, prefix)
	name, hadSuffix := strings.CutSuffix(name, suffix)
	if !hadPrefix || !hadSuffix || name == "" {
		return "", fmt.Errorf("overlay %s: Service %s does not carry the overlay's namePrefix %q and nameSuffix %q", s.Overlay, s.name, prefix, suffix)
	}
	return name, nil
}
