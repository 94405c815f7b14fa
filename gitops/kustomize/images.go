package kustomize

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// Images returns the entries of the kustomization's images, as kustomize reads them.
func Images(kustomization []byte) ([]Image, error) {
	k, err := read(kustomization)
	if err != nil {
		return nil, err
	}
	var images []Image
	for _, i := range k.Images {
		images = append(images, fromKustomize(i))
	}
	return images, nil
}

// SetImage sets images as `kustomize edit set image` does: the entry of an image's name becomes what is given, with
// what is not given dropped and "*" kept; further entries of the name go. A new entry is added at the end of the list,
// and the list at the end of the file. When an error is returned, nothing was edited.
func SetImage(kustomization []byte, images ...Image) ([]byte, error) {
	out := kustomization
	for i, image := range images {
		if slices.ContainsFunc(images[i+1:], func(later Image) bool { return later.Name == image.Name }) {
			continue // as in kustomize, the last one given for a name counts
		}
		var err error
		if out, err = setImage(out, image); err != nil {
			return nil, fmt.Errorf("setting image %s: %w", image.Name, err)
		}
	}
	return out, nil
}

// setImage makes the entry of image.Name what image says, as kustomize would.
func setImage(src []byte, image Image) ([]byte, error) {
	if err := image.check(); err != nil {
		return nil, err
	}
	before, err := read(src)
	if err != nil {
		return nil, err
	}
	named := func(i types.Image) bool { return i.Name == image.Name }
	//lint:ignore SA1019 kustomize still reads it
	if slices.ContainsFunc(before.ImageTags, named) {
		return nil, errors.New("imageTags: lists it too; move the entry to images: (kustomize edit fix does that)")
	}
	var old types.Image
	if i := slices.IndexFunc(before.Images, named); i >= 0 {
		old = before.Images[i]
	}
	return setEntry(src, before, merged(image, old))
}

// setEntry makes the first entry of entry.Name equal to entry, takes out the others of that name, and checks that
// nothing else reads differently.
func setEntry(src []byte, before types.Kustomization, entry types.Image) ([]byte, error) {
	out, err := writeImage(src, fromKustomize(entry))
	if err != nil {
		return nil, err
	}
	return out, check(out, before, func(k *types.Kustomization) { k.Images = replaced(k.Images, entry) })
}

func replaced(images []types.Image, entry types.Image) []types.Image {
	named := func(i types.Image) bool { return i.Name == entry.Name }
	out := slices.DeleteFunc(slices.Clone(images), named)
	at := slices.IndexFunc(images, named)
	if at < 0 {
		at = len(out)
	}
	return slices.Insert(out, at, entry)
}

func merged(image Image, old types.Image) types.Image {
	value := func(now, old string) string {
		if now == keep {
			return old
		}
		return now
	}
	return types.Image{
		Name:    image.Name,
		NewName: value(image.NewName, old.NewName),
		NewTag:  value(image.NewTag, old.NewTag),
		Digest:  value(image.Digest, old.Digest),
	}
}

func fromKustomize(i types.Image) Image {
	return Image{Name: i.Name, NewName: i.NewName, NewTag: i.NewTag, Digest: i.Digest, TagSuffix: i.TagSuffix}
}

// fields are the fields of an entry but its name, in the order in which they are written.
func (i Image) fields() []pair {
	return []pair{
		{key: "newName", value: i.NewName},
		{key: "newTag", value: i.NewTag},
		{key: "tagSuffix", value: i.TagSuffix},
		{key: "digest", value: i.Digest},
	}
}

// writeImage edits the bytes, one field after the other.
func writeImage(src []byte, image Image) ([]byte, error) {
	src, err := removeOthers(src, image.Name)
	if err != nil {
		return nil, err
	}
	l, found, err := imageEntries(src, image.Name)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return appendImage(src, image)
	}
	if hint := unmovable(l.v.Content[found[0]]); hint != "" {
		return nil, fmt.Errorf("line %d: the entry %s; write it out", l.v.Content[found[0]].Line, hint)
	}
	after := []string{"name"}
	for _, f := range image.fields() {
		if src, err = writeField(src, image.Name, f, after); err != nil {
			return nil, err
		}
		after = append(after, f.key)
	}
	return src, nil
}

func appendImage(src []byte, image Image) ([]byte, error) {
	l, _, err := imageEntries(src, image.Name)
	if err != nil {
		return nil, err
	}
	pairs := []pair{{key: "name", value: image.Name}}
	for _, f := range image.fields() {
		if f.value != "" {
			pairs = append(pairs, f)
		}
	}
	edits, err := l.appendItem(pairs)
	return l.apply(edits...), err
}

func writeField(src []byte, name string, f pair, after []string) ([]byte, error) {
	l, found, err := imageEntries(src, name)
	if err != nil {
		return nil, err
	}
	entry, limit := l.v.Content[found[0]], itemLimit(l, found[0])
	var edits []edit
	if f.value == "" {
		edits, err = l.removeField(entry, limit, f.key)
	} else {
		edits, err = l.setField(entry, limit, f.key, f.value, after...)
	}
	return l.apply(edits...), err
}

// removeOthers takes out the entries of name but for the first.
func removeOthers(src []byte, name string) ([]byte, error) {
	for {
		l, found, err := imageEntries(src, name)
		if err != nil || len(found) <= 1 {
			return src, err
		}
		edits, err := l.removeItem(found[len(found)-1])
		if err != nil {
			return nil, err
		}
		src = l.apply(edits...)
	}
}

// imageEntries returns the images list of src and which of its entries have the name.
func imageEntries(src []byte, name string) (list, []int, error) {
	d, err := parse(src)
	if err != nil {
		return list{}, nil, err
	}
	l, err := d.list("images")
	if err != nil {
		return list{}, nil, err
	}
	var found []int
	for i, item := range l.items() {
		if item.Kind != yaml.MappingNode {
			return list{}, nil, fmt.Errorf("line %d: an entry of images is %s; write it out as a mapping with the key name", item.Line, kindName(item))
		}
		_, v, err := field(item, "name")
		if err != nil {
			return list{}, nil, err
		}
		if v != nil && resolve(v).Value == name {
			found = append(found, i)
		}
	}
	return l, found, nil
}

func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// read is the kustomization as kustomize itself reads it, after checking that it can be read and edited safely.
func read(src []byte) (types.Kustomization, error) {
	var k types.Kustomization
	if _, err := parse(src); err != nil {
		return k, err
	}
	err := k.Unmarshal(src)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Type.Kind() == reflect.String:
		return k, fmt.Errorf("the kustomization is not valid: %s is a %s, not a string; put it in quotes", wrong.Field, wrong.Value)
	case err != nil:
		return k, fmt.Errorf("the kustomization is not valid: %w", err)
	}
	return k, nil
}

// check returns an error unless out reads as the kustomization before with the change made.
func check(out []byte, before types.Kustomization, change func(*types.Kustomization)) error {
	after, err := read(out)
	if err != nil {
		return fmt.Errorf("the edit would break the kustomization: %w", err)
	}
	change(&before)
	for _, k := range []*types.Kustomization{&before, &after} {
		if len(k.Images) == 0 {
			k.Images = nil
		}
		if len(k.Patches) == 0 {
			k.Patches = nil
		}
	}
	if !reflect.DeepEqual(before, after) {
		return errors.New("the edit would change more than the entry (an anchor, or a block without a final newline?); edit the file by hand once")
	}
	return nil
}
