package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing/fstest"
)

// filesBelow are the files of a folder by their names inside it.
func filesBelow(dir string) (map[string]string, error) {
	files := map[string]string{}
	tree := os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		files[name] = string(text)
		return err
	})
	return files, err
}

func mapFS(files map[string]string) fs.FS {
	tree := fstest.MapFS{}
	for name := range maps.Keys(files) {
		tree[name] = &fstest.MapFile{Data: []byte(files[name]), Mode: 0o644}
	}
	return tree
}

// copyOver writes the files of one folder into another.
func copyOver(to, from string) error {
	files, err := filesBelow(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for name, text := range files {
		name = filepath.Join(to, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
	}
	return err
}
