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

// SameButTags tells whether two versions of a kustomization differ in no more than tags and digests of entries that both list, where the
// later one shows these images, and in patches that are files of the tool's own. What cannot be read is not the same.
func SameButTags(was, is []byte, images []string, own func(file string) bool) bool {
	before, err := read(was)
	if err != nil {
		return false
	}
	after, err := read(is)
	if err != nil {
		return false
	}
	for i, image := range after.Images {
		if i < len(before.Images) && slices.ContainsFunc(images, entryOf(image).Shows) {
			before.Images[i].NewTag, before.Images[i].Digest = image.NewTag, image.Digest
		}
	}
	return reflect.DeepEqual(withoutPatches(before, own), withoutPatches(after, own))
}

func entryOf(i types.Image) Image {
	return Image{Name: i.Name, NewName: i.NewName, NewTag: i.NewTag, Digest: i.Digest}
}

// withoutPatches is a kustomization without the patches of some files beside it.
func withoutPatches(k types.Kustomization, of func(file string) bool) types.Kustomization {
	k.Patches = slices.DeleteFunc(slices.Clone(k.Patches), func(p types.Patch) bool { return of(p.Path) && path.Dir(p.Path) == "." })
	if len(k.Patches) == 0 {
		k.Patches = nil
	}
	return k
}
