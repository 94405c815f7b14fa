// Package manifests writes what overlays render before a change and after it, for other
// programs to look at.
package manifests

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/setting"
)

// Rendered is what an overlay renders before a change and after it.
type Rendered struct {
	Overlay       string
	Before, After []byte
}

// Write writes the manifests into a folder: before/OVERLAY/OBJECT.yaml and
// after/OVERLAY/OBJECT.yaml. No name leads out of it. Without a folder nothing is
// written.
func Write(r *console.Console, folder string, all ...Rendered) error {
	if folder == "" {
		return nil
	}
	root, err := newFolder(folder)
	if err != nil {
		return &setting.InputError{Err: fmt.Errorf("manifests: %w", console.Escaped(err))}
	}
	defer root.Close()
	for _, side := range []string{"before", "after"} {
		if err := root.MkdirAll(side, 0o755); err != nil { // also where nothing changes
			return fmt.Errorf("manifests: writing into %q: %w", folder, err)
		}
	}
	for _, one := range all {
		for side, content := range map[string][]byte{"before": one.Before, "after": one.After} {
			if err := writeObjects(r, root, path.Join(side, one.Overlay), content); err != nil {
				return fmt.Errorf("manifests: writing into %q: %w", folder, err)
			}
		}
	}
	r.Printf("rendered manifests written to %s", folder)
	return nil
}

// newFolder makes a folder below one that there is, or takes one that is empty: what an earlier run has
// left must not be taken for this one's.
func newFolder(name string) (*os.Root, error) {
	root, within, err := console.Root(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.MkdirAll(within, 0o755); err != nil {
		return nil, err
	}
	folder, err := root.Open(within)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if _, err := folder.Readdirnames(1); err == nil {
		return nil, fmt.Errorf("the folder %q is not empty: expected a new or an empty one; remove it before, or name another", name)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return root.OpenRoot(within)
}

// writeObjects writes the objects of one manifest into a folder of its own.
func writeObjects(r *console.Console, root *os.Root, folder string, content []byte) error {
	if err := root.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, file := range manifest.Files(content) {
		if err := root.WriteFile(path.Join(folder, file.Name), []byte(r.Redact(file.Content)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
