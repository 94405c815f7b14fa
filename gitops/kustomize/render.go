package kustomize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/acme/knative-promote/internal/apart"
	"github.com/acme/knative-promote/internal/oneline"
)

// renderTimeout bounds what a render reads before it is its turn, and the render, beside the deadline of its context.
const renderTimeout = time.Minute

// Render returns what `kustomize build --load-restrictor LoadRestrictionsNone` prints for the folder dir of tree. Reads
// tells of the files that need that option. It reads the files of tree that the overlay names, and nothing else: what is remote, leads out of the tree, or needs a plugin, Helm or a
// container is an error that names the file and the entry. The only difference to the command is the version in the label
// that buildMetadata: [managedByLabel] adds.
//
// Size and nesting of what is read are bounded, and so is the time: by the deadline of ctx, and a minute once it is its turn. Renders run one
// after the other, as kustomize keeps its OpenAPI schema in global variables, and where [apart.By] says. What was rendered
// lately is not rendered again from a tree that holds the same.
func Render(ctx context.Context, tree fs.FS, dir string) ([]byte, error) {
	r, err := render(ctx, tree, path.Clean(dir))
	if err != nil {
		return nil, &renderError{dir, err}
	}
	return slices.Clone(r.out), nil
}

func render(ctx context.Context, tree fs.FS, dir string) (r *rendered, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("kustomize failed on this input: %v", p)
		}
	}()
	if !fs.ValidPath(dir) {
		return nil, errors.New("expected the path of a folder in the repository, with no leading slash and no step up")
	}
	reading, cancel := context.WithTimeoutCause(ctx, renderTimeout, fmt.Errorf("reading its files does not end within %s", renderTimeout))
	defer cancel()
	read, err := apart.Within(reading, func(ctx context.Context) (*overlay, error) { return readOverlay(ctx, tree, dir) })
	if err != nil {
		return nil, err
	}
	if read.known != nil {
		return read.known, nil
	}
	return apart.Within(ctx, func(ctx context.Context) (*rendered, error) { return read.build(ctx, dir) })
}

// overlay is what a folder is made of, or what it is known to render to.
type overlay struct {
	known  *rendered // nil: it is not
	asked  *questioned
	files  map[string][]byte // kustomize gets what was inspected
	raw    []string          // files that generators read as they are
	schema bool              // it brings its own OpenAPI schema
	held   []figure
}

// readOverlay takes no turn: reading takes as long as the tree does.
func readOverlay(ctx context.Context, tree fs.FS, dir string) (*overlay, error) {
	if known := recall(tree, dir); known != nil {
		return &overlay{known: known}, nil
	}
	o := &overlay{asked: newQuestioned(tree), files: map[string][]byte{}}
	i := &inspector{confined: &confined{ctx: ctx, tree: o.asked, files: o.files}}
	err := i.folder(dir)
	if err == nil {
		err = i.budget.check()
	}
	o.raw, o.schema, o.held = i.raw, i.schema, append(i.budget.figures(), i.confined.took.figures()...)
	return o, err
}

// build runs kustomize.
func (o *overlay) build(ctx context.Context, dir string) (*rendered, error) {
	b, err := o.ask(ctx, dir)
	if err != nil {
		return nil, err
	}
	held := append(o.held, b.Took.figures()...) // it reads what generators take too, and some files again
	return remember(dir, o.asked, &rendered{out: b.Out, raw: o.raw, held: append(held, figure{len(b.Out), maxRendered, "bytes when it is rendered"})}), nil
}

// built is what a folder renders to, and what was read for it.
type built struct {
	Out  []byte
	Took amount
}

// build runs kustomize on a folder of what is confined.
func (c *confined) build(dir string, schema bool) (built, error) {
	if schema { // kustomize would add it to what renders before left, and leave it to those after
		openapi.ResetOpenAPI()
		defer openapi.ResetOpenAPI()
	}
	resources, err := krusty.MakeKustomizer(krustyOptions()).Run(c, path.Join(confinedRoot, dir))
	if err != nil {
		return built{}, errors.New(strings.ReplaceAll(err.Error(), confinedRoot+"/", "")) // the paths as they are in the tree
	}
	out, err := encoded(resources)
	return built{out, c.took}, err
}

// encoded is what AsYaml returns, within the limit: one text may stand in thousands of objects.
func encoded(resources resmap.ResMap) ([]byte, error) {
	var out []byte
	for i, one := range resources.Resources() {
		text, err := one.AsYAML()
		switch {
		case err != nil:
			return nil, err
		case len(out)+len(text) > maxRendered:
			return nil, fmt.Errorf("it comes to more than %d bytes", maxRendered)
		case i > 0:
			out = append(out, "---\n"...)
		}
		out = append(out, text...)
	}
	return out, nil
}

// maxRendered is how large an overlay may become, in bytes.
const maxRendered = maxTotalSize

// Reads returns the files of tree that the overlay in the folder dir is rendered from, sorted, also those of what it builds
// on, and which of them are beside the kustomization that names them, neither in its folder nor below: without
// --load-restrictor LoadRestrictionsNone kustomize does not render it.
func Reads(ctx context.Context, tree fs.FS, dir string) (all, outside []string, err error) {
	i := &inspector{confined: &confined{ctx: ctx, tree: tree, files: map[string][]byte{}}}
	if err := i.folder(path.Clean(dir)); err != nil {
		return nil, nil, &renderError{dir, err}
	}
	files := i.confined.files
	if r, err := render(ctx, tree, path.Clean(dir)); err == nil { // it knows those of generators too
		for _, a := range r.asked {
			if a.What == aboutFile && a.There {
				files[a.Name] = nil
			}
		}
	}
	return slices.Sorted(maps.Keys(files)), i.outside, nil
}

// Asked are the paths of tree that the render of the overlay in the folder dir depends on, sorted: files, symbolic links, folders, and
// what is not there.
func Asked(ctx context.Context, tree fs.FS, dir string) ([]string, error) {
	r, err := render(ctx, tree, path.Clean(dir))
	if err != nil {
		return nil, &renderError{dir, err}
	}
	names := map[string]bool{}
	for _, a := range r.asked {
		names[a.Name] = true
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// Raw are the files that generators of the overlay in the folder dir, and of what it builds on, read as they are.
func Raw(ctx context.Context, tree fs.FS, dir string) ([]string, error) {
	r, err := render(ctx, tree, path.Clean(dir))
	if err != nil {
		return nil, &renderError{dir, err}
	}
	return r.raw, nil
}

// krustyOptions are those of `kustomize build --load-restrictor LoadRestrictionsNone`: no plugins, no Helm. What may be
// read ends at the files that it gets.
func krustyOptions() *krusty.Options {
	o := krusty.MakeDefaultOptions()
	o.Reorder = krusty.ReorderOptionUnspecified
	o.LoadRestrictions = types.LoadRestrictionsNone
	return o
}

// renderError says what could not be rendered and why. The cause can quote any text of the repository.
type renderError struct {
	dir   string
	cause error
}

const maxErrorLen = 2000 // bytes

// Error is one line of printable text of bounded length.
func (e *renderError) Error() string {
	return oneline.Of("rendering "+e.dir+": "+e.cause.Error(), maxErrorLen)
}

func (e *renderError) Unwrap() error { return e.cause }
