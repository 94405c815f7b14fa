package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/report"
	"github.com/acme/knative-promote/promote/setting"
)

// rendered is what an overlay renders before a change and after it.
type rendered struct {
	overlay       string
	before, after []byte
}

// writeOverlays writes the manifests of all overlays that change and render.
func writeOverlays(t task, overlays []report.Overlay) error {
	var all []rendered
	for _, o := range overlays {
		if o.Changes() && o.Err == "" {
			all = append(all, rendered{o.Path, o.Before, o.After})
		}
	}
	return writeManifests(t, all...)
}

// writeManifests writes the manifests where the input of that name asks for
// them: before/OVERLAY/OBJECT.yaml and after/OVERLAY/OBJECT.yaml. No name leads
// out of the folder.
func writeManifests(t task, all ...rendered) error {
	folder := t.settings.Manifests
	if folder == "" {
		return nil
	}
	root, err := newFolder(folder)
	if err != nil {
		return &setting.InputError{Err: fmt.Errorf("manifests: %w", err)}
	}
	defer root.Close()
	for _, side := range []string{"before", "after"} {
		if err := root.MkdirAll(side, 0o755); err != nil { // also where nothing changes
			return fmt.Errorf("manifests: writing into %q: %w", folder, err)
		}
	}
	for _, r := range all {
		for side, content := range map[string][]byte{"before": r.before, "after": r.after} {
			if err := writeObjects(t, root, path.Join(side, r.overlay), content); err != nil {
				return fmt.Errorf("manifests: writing into %q: %w", folder, err)
			}
		}
	}
	t.console.Printf("rendered manifests written to %s", folder)
	return nil
}

// newFolder makes a folder, or takes one that is empty: what an earlier run has
// left must not be taken for this one's.
func newFolder(name string) (*os.Root, error) {
	if err := os.MkdirAll(name, 0o755); err != nil {
		return nil, err
	}
	folder, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if _, err := folder.Readdirnames(1); err == nil {
		return nil, fmt.Errorf("the folder %q is not empty: expected a new or an empty one; remove it before, or name another", name)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return os.OpenRoot(name)
}

// writeObjects writes the objects of one manifest into a folder of its own.
func writeObjects(t task, root *os.Root, folder string, content []byte) error {
	if err := root.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, file := range manifest.Files(content) {
		if err := root.WriteFile(path.Join(folder, file.Name), []byte(t.console.Redact(file.Content)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
