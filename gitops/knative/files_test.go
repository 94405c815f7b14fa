package knative

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

// TestEdited reads a tree with edits as any file system.
func TestEdited(t *testing.T) {
	t.Parallel()
	tree := edited{
		FS: fstest.MapFS{
			"apps/base/service.yaml": {Data: []byte("base"), Mode: 0o644},
			"apps/prod/old.yaml":     {Data: []byte("old"), Mode: 0o644},
			"apps/prod/kept.yaml":    {Data: []byte("kept"), Mode: 0o644},
		},
		files: map[string][]byte{
			"apps/prod/new.yaml":     []byte("new"),
			"apps/prod/old.yaml":     nil,
			"apps/base/service.yaml": []byte("edited"),
		},
	}
	if err := fstest.TestFS(tree, "apps/base/service.yaml", "apps/prod/new.yaml", "apps/prod/kept.yaml"); err != nil {
		t.Error(err)
	}
	if content, err := fs.ReadFile(tree, "apps/base/service.yaml"); err != nil || string(content) != "edited" {
		t.Errorf("%q, %v", content, err)
	}
	for name, read := range map[string]func() error{
		"open":  func() error { _, err := tree.Open("apps/prod/old.yaml"); return err },
		"read":  func() error { _, err := tree.ReadFile("apps/prod/old.yaml"); return err },
		"stat":  func() error { _, err := tree.Stat("apps/prod/old.yaml"); return err },
		"lstat": func() error { _, err := tree.Lstat("apps/prod/old.yaml"); return err },
	} {
		if err := read(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of a removed file: %v", name, err)
		}
	}
}
