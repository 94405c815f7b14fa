package kustomize

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

// Target is the object that a JSON6902 patch applies to. The zero value is none: a strategic merge patch says in itself
// what it applies to.
type Target struct {
	Group, Version, Kind, Name string
}

func (t Target) selector() *types.Selector {
	if t == (Target{}) {
		return nil
	}
	return &types.Selector{ResId: resid.ResId{Gvk: resid.Gvk{Group: t.Group, Version: t.Version, Kind: t.Kind}, Name: t.Name}}
}

// AddPatch lists the file, a path relative to the kustomization's folder, as the last of its patches. A file that is
// listed already with that target is left where it is; with another target it is an error.
func AddPatch(kustomization []byte, file string, target Target) ([]byte, error) {
	out, err := addPatch(kustomization, file, target)
	if err != nil {
		return nil, fmt.Errorf("adding patch %s: %w", file, err)
	}
	return out, nil
}

func addPatch(src []byte, file string, target Target) ([]byte, error) {
	before, err := read(src)
	if err != nil {
		return nil, err
	}
	want := types.Patch{Path: file, Target: target.selector()}
	for _, p := range before.Patches {
		switch {
		case !samePath(p.Path, file):
		case p.Equals(want) || p.Equals(types.Patch{Path: p.Path, Target: want.Target}):
			return src, nil
		default:
			return nil, errors.New("patches: lists it with another target or with options; remove that entry")
		}
	}
	return appendPatch(src, before, file, target)
}

// RepeatPatch lists the file once more, behind all other patches, where it is not the last one.
func RepeatPatch(kustomization []byte, file string, target Target) ([]byte, error) {
	before, err := read(kustomization)
	if err == nil && len(before.Patches) > 0 && samePath(before.Patches[len(before.Patches)-1].Path, file) {
		return kustomization, nil
	}
	if err == nil {
		kustomization, err = appendPatch(kustomization, before, file, target)
	}
	if err != nil {
		return nil, fmt.Errorf("adding patch %s: %w", file, err)
	}
	return kustomization, nil
}

func appendPatch(src []byte, before types.Kustomization, file string, target Target) ([]byte, error) {
	l, err := patches(src)
	if err != nil {
		return nil, err
	}
	edits, err := l.appendItem(patchPairs(file, target))
	if err != nil {
		return nil, err
	}
	out := l.apply(edits...)
	return out, check(out, before, func(k *types.Kustomization) {
		k.Patches = append(slices.Clone(k.Patches), types.Patch{Path: file, Target: target.selector()})
	})
}

func patchPairs(file string, target Target) []pair {
	pairs := []pair{{key: "path", value: file}}
	if target == (Target{}) {
		return pairs
	}
	pairs = append(pairs, pair{key: "target"})
	for _, p := range []pair{
		{"group", target.Group, true}, {"version", target.Version, true},
		{"kind", target.Kind, true}, {"name", target.Name, true},
	} {
		if p.value != "" {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// RemovePatch takes files out of the kustomization's patches, and the key patches with the last entry. After AddPatch
// it gives back the bytes from before, but for a key patches that had no value. A file that is not listed is no error.
func RemovePatch(kustomization []byte, files ...string) ([]byte, error) {
	before, err := read(kustomization)
	if err != nil {
		return nil, err
	}
	out, err := removePatch(kustomization, before, files)
	if err != nil {
		return nil, fmt.Errorf("removing patch %s: %w", strings.Join(files, ", "), err)
	}
	return out, nil
}

func removePatch(src []byte, before types.Kustomization, files []string) ([]byte, error) {
	listed := func(p types.Patch) bool {
		return slices.ContainsFunc(files, func(file string) bool { return samePath(p.Path, file) })
	}
	if !slices.ContainsFunc(before.Patches, listed) {
		return src, nil
	}
	out := src
	for i := len(before.Patches) - 1; i >= 0; i-- {
		if !listed(before.Patches[i]) {
			continue
		}
		l, err := patches(out)
		if err != nil {
			return nil, err
		}
		edits, err := l.removeItem(i)
		if err != nil {
			return nil, err
		}
		out = l.apply(edits...)
	}
	return out, check(out, before, func(k *types.Kustomization) {
		k.Patches = slices.DeleteFunc(slices.Clone(k.Patches), listed)
	})
}

func patches(src []byte) (list, error) {
	d, err := parse(src)
	if err != nil {
		return list{}, err
	}
	return d.list("patches")
}

func samePath(a, b string) bool { return a != "" && path.Clean(a) == path.Clean(b) }
