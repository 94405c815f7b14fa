package kustomize

import (
	"fmt"
	"slices"
	"strings"
)

// Entry returns the entry of images that an image of this name goes by: the one of the name or, where there is none, the
// only one whose newName it is. None is no error, several are.
func Entry(images []Image, name string) (entry Image, found bool, err error) {
	if i := slices.IndexFunc(images, func(i Image) bool { return i.Name == name }); i >= 0 {
		return images[i], true, nil
	}
	var names []string
	for _, i := range images {
		if i.NewName == name && !slices.Contains(names, i.Name) {
			entry, names = i, append(names, i.Name)
		}
	}
	if len(names) > 1 {
		return Image{}, false, fmt.Errorf("the entries %s have it as their newName; name the one to set, as in %s=%s:TAG",
			strings.Join(names, ", "), names[0], name)
	}
	return entry, len(names) == 1, nil
}

// InEntry is the instruction to set the entry that the image goes by. An image that is asked for by the newName of an
// entry need not get a second one: that would work by its place alone, and kustomize's own edit sorts the list.
func InEntry(kustomization []byte, image Image) (Image, error) {
	images, err := Images(kustomization)
	if err != nil {
		return Image{}, err
	}
	entry, found, err := Entry(images, image.Name)
	if err != nil {
		return Image{}, fmt.Errorf("setting image %s: %w", image.Name, err)
	}
	if !found || entry.Name == image.Name {
		return image, nil
	}
	if image.NewName == "" {
		image.NewName = keep
	}
	image.Name = entry.Name
	return image, nil
}
