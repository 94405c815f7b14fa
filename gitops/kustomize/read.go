package kustomize

import (
	"fmt"
	"io/fs"
	"path"

	"sigs.k8s.io/kustomize/api/types"
)

// Read returns the kustomization of the folder dir of tree. What it says in fields that kustomize has replaced is in
// those that replaced them.
func Read(tree fs.FS, dir string) (types.Kustomization, error) {
	name, err := File(tree, dir)
	if err != nil {
		return types.Kustomization{}, err
	}
	content, err := fs.ReadFile(tree, path.Join(dir, name))
	if err != nil {
		return types.Kustomization{}, fmt.Errorf("reading the kustomization of %s: %w", dir, err)
	}
	k, err := decode(content)
	if err != nil {
		return types.Kustomization{}, fmt.Errorf("reading %s: %w", path.Join(dir, name), err)
	}
	return k, nil
}

// decode is a kustomization as kustomize reads it before it renders.
func decode(content []byte) (k types.Kustomization, err error) {
	if err := k.Unmarshal(content); err != nil {
		return types.Kustomization{}, err
	}
	k.FixKustomization()
	return k, nil
}

// AddedToNames returns what the kustomization puts before and after the names of its objects.
func AddedToNames(kustomization []byte) (prefix, suffix string, err error) {
	k, err := read(kustomization)
	return k.NamePrefix, k.NameSuffix, err
}
