package kustomize

import (
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/api/types"
)

// RestoreImages makes the entries of names what they are in from, another version of the same kustomization: an entry
// gets the text that it has there, and one that from does not have is removed. After SetImage it gives back the bytes
// from before, unless entries were merged.
func RestoreImages(kustomization, from []byte, names ...string) ([]byte, error) {
	old, err := read(from)
	if err != nil {
		return nil, fmt.Errorf("reading the kustomization to restore from: %w", err)
	}
	out := kustomization
	for _, name := range names {
		if out, err = restoreImage(out, from, old, name); err != nil {
			return nil, fmt.Errorf("restoring image %s: %w", name, err)
		}
	}
	return out, nil
}

func restoreImage(src, from []byte, old types.Kustomization, name string) ([]byte, error) {
	before, err := read(src)
	if err != nil {
		return nil, err
	}
	named := func(i types.Image) bool { return i.Name == name }
	entries := slices.DeleteFunc(slices.Clone(old.Images), func(i types.Image) bool { return !named(i) })
	if out, ok := copyEntry(src, from, name); ok {
		want := slices.Clone(before.Images)
		want[slices.IndexFunc(want, named)] = entries[0]
		return out, check(out, before, func(k *types.Kustomization) { k.Images = want })
	}
	if len(entries) == 1 && slices.ContainsFunc(before.Images, named) {
		return setEntry(src, before, entries[0])
	}
	out := src
	for _, i := range entries {
		if out, err = appendImage(out, fromKustomize(i)); err != nil {
			return nil, err
		}
	}
	for _, i := range before.Images {
		if !named(i) {
			continue
		}
		if out, err = removeFirst(out, name); err != nil {
			return nil, err
		}
	}
	return out, check(out, before, func(k *types.Kustomization) {
		k.Images = append(slices.DeleteFunc(slices.Clone(k.Images), named), entries...)
	})
}

func removeFirst(src []byte, name string) ([]byte, error) {
	l, found, err := imageEntries(src, name)
	if err != nil {
		return nil, err
	}
	edits, err := l.removeItem(found[0])
	return l.apply(edits...), err
}

// copyEntry gives the one entry of name in src the text that it has in from, if both are written in the same way.
func copyEntry(src, from []byte, name string) ([]byte, bool) {
	l, found, err := imageEntries(src, name)
	old, foundOld, errOld := imageEntries(from, name)
	if err != nil || errOld != nil || len(found) != 1 || len(foundOld) != 1 {
		return nil, false
	}
	if isFlow(l.v) != isFlow(old.v) || l.eol != old.eol || !isFlow(l.v) && l.v.Column != old.v.Column {
		return nil, false
	}
	at, to, err := l.itemSpan(found[0])
	oldAt, oldTo, errOld := old.itemSpan(foundOld[0])
	if err != nil || errOld != nil {
		return nil, false
	}
	return l.apply(edit{at, to, old.text[oldAt:oldTo]}), true
}
