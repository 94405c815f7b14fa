package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The bounds of what is read: files, and bytes of one. An API server takes no
// object of more than 1.5 MiB.
const (
	mostFiles = 100
	fileLimit = 1 << 20
)

// A Set is the policies of some files. The zero value denies nothing.
type Set struct{ files []file }

type file struct {
	Name    string
	Content []byte
}

func names(files []file) (names []string) {
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

// Read reads the policies of all files that the patterns match, in the syntax of
// path.Match, and has [Apart] compile them. The error is ErrEnded of package apart, that of
// ctx, or it names the file, the policy and the field, and what to use instead of what is
// only known in a cluster.
func Read(ctx context.Context, tree fs.FS, patterns []string) (Set, error) {
	matched, err := matches(tree, patterns)
	if err != nil {
		return Set{}, err
	}
	var set Set
	for _, name := range matched {
		f, err := fileOf(tree, name)
		if err != nil {
			return Set{}, fmt.Errorf("%s: %w", name, err)
		}
		set.files = append(set.files, f)
	}
	if _, err = ask(ctx, task{Files: set.files}); err != nil {
		return Set{}, err
	}
	return set, nil
}

func fileOf(tree fs.FS, name string) (file, error) {
	info, err := fs.Stat(tree, name)
	switch {
	case err != nil:
		return file{}, err
	case info.Size() > fileLimit:
		return file{}, fmt.Errorf("it has %d bytes: expected %d at most", info.Size(), fileLimit)
	}
	content, err := fs.ReadFile(tree, name)
	return file{name, content}, err
}

// An Answer is what policies say of renders.
type Answer struct {
	Denials   []Denial
	Unmatched []Unmatched
}

// Unmatched is a policy that matches no object that was rendered, and nothing that Knative makes of one.
type Unmatched struct{ Policy, File string }

// Evaluate has [Apart] ask all policies about the objects of renders, each an update of the
// object of the same kind and name in the render before, or else new; the first is what
// there is. What is said of one render is not said again of the next. Objects without a
// namespace are in the given one. The error is ErrEnded of package apart, or that of ctx.
func (s Set) Evaluate(ctx context.Context, namespace string, renders ...[]unstructured.Unstructured) (a Answer, err error) {
	if len(s.files) == 0 {
		return a, nil
	}
	t := task{Files: s.files, Namespace: namespace}
	for _, objects := range renders {
		text, err := json.Marshal(objects)
		if err != nil {
			return a, err
		}
		t.Renders = append(t.Renders, text)
	}
	o, err := ask(ctx, t)
	for _, d := range o.Denied {
		d.Denial.Object = renders[d.Render][d.Object]
		a.Denials = append(a.Denials, d.Denial)
	}
	a.Unmatched = o.Unmatched
	return a, err
}

// Files are those that the patterns match and that can be found, also through a link.
func Files(tree fs.FS, patterns []string) (files []string) {
	for _, pattern := range patterns {
		found, _ := fs.Glob(tree, pattern) // one that is wrong is an error of Read
		files = append(files, found...)
	}
	return files
}

// matches are the files of the patterns, each once, in order.
func matches(tree fs.FS, patterns []string) ([]string, error) {
	var files []string
	for _, pattern := range patterns {
		found, err := fs.Glob(tree, pattern)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", pattern, err)
		}
		if err := readable(tree, pattern); len(found) == 0 && err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%q matches no file of the infra repository: expected files such as policies/*.yaml, relative to its root", pattern)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	if len(files) > mostFiles {
		return nil, fmt.Errorf("%d files match: expected %d at most", len(files), mostFiles)
	}
	return files, nil
}

// readable is why the folder that a pattern begins with could not be read, which
// fs.Glob does not say; nil where it is not there.
func readable(tree fs.FS, pattern string) error {
	folder := pattern[:max(0, strings.LastIndex(pattern[:strings.IndexAny(pattern+"*", `*?[\`)], "/"))]
	if folder == "" {
		folder = "."
	}
	if _, err := fs.ReadDir(tree, folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
