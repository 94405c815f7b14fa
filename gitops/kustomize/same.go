package kustomize

import (
	"path"
	"reflect"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
)

// IsFile tells whether a path is that of a kustomization.
func IsFile(file string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(file))
}

// SameButTags tells whether two versions of a kustomization differ in no more than tags and digests of the images that both list.
// What cannot be read is not the same.
func SameButTags(a, b []byte) bool {
	one, err := read(a)
	if err != nil {
		return false
	}
	other, err := read(b)
	if err != nil {
		return false
	}
	return reflect.DeepEqual(withoutTags(one), withoutTags(other))
}

func withoutTags(k types.Kustomization) types.Kustomization {
	k.Images = slices.Clone(k.Images)
	for i, image := range k.Images {
		k.Images[i] = types.Image{Name: image.Name, NewName: image.NewName}
	}
	return k
}
