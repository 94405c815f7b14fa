package kustomize

import (
	"cmp"
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

// SameButTags tells whether two versions of a kustomization differ in no more than tags and digests of images and in patches by
// these files. What cannot be read is not the same.
func SameButTags(a, b []byte, isOwn func(file string) bool) bool {
	one, err := read(a)
	if err != nil {
		return false
	}
	other, err := read(b)
	if err != nil {
		return false
	}
	return reflect.DeepEqual(withoutTags(one, isOwn), withoutTags(other, isOwn))
}

func withoutTags(k types.Kustomization, isOwn func(file string) bool) types.Kustomization {
	images := map[types.Image]bool{}
	for _, i := range k.Images {
		if i.NewName != "" {
			images[types.Image{Name: i.Name, NewName: i.NewName}] = true
		}
	}
	k.Images = nil
	for i := range images {
		k.Images = append(k.Images, i)
	}
	slices.SortFunc(k.Images, func(a, b types.Image) int { return cmp.Compare(a.Name+"="+a.NewName, b.Name+"="+b.NewName) })
	k.Patches = slices.DeleteFunc(slices.Clone(k.Patches), func(p types.Patch) bool { return p.Path != "" && isOwn(p.Path) })
	if len(k.Patches) == 0 {
		k.Patches = nil
	}
	return k
}
