package kustomize

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/strictyaml"
)

// maxKustomization is the size up to which a kustomization is looked into, in
// bytes.
const maxKustomization = 1 << 20

// links are the fields of a kustomization that lead to other folders, and all of its strings.
// They are read without kustomize's own reader, which takes nothing from a file with one
// unknown field: which overlays to render shows before it is known that they do.
type links struct {
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Bases      []string `json:"bases"`
	Components []string `json:"components"`

	Generators   []string `json:"generators"`
	Transformers []string `json:"transformers"`
	Validators   []string `json:"validators"`

	strings []string
	unread  bool // it is too large
}

func readLinks(tree fs.FS, file string) (l links, err error) {
	info, err := fs.Stat(tree, file)
	if err != nil || info.Size() > maxKustomization {
		return links{unread: true}, err
	}
	content, err := fs.ReadFile(tree, file)
	if err != nil {
		return l, err
	}
	if strictyaml.Bounded(content, maxKustomization) != nil {
		return links{unread: true}, nil // or it is no YAML
	}
	var all any
	if yaml.Unmarshal(content, &l) != nil {
		l = links{}
	}
	if yaml.Unmarshal(content, &all) == nil {
		l.strings = stringsIn(all, nil)
	}
	return l, nil
}

func stringsIn(value any, found []string) []string {
	switch v := value.(type) {
	case string:
		return append(found, v)
	case []any:
		for _, item := range v {
			found = stringsIn(item, found)
		}
	case map[string]any:
		for _, item := range v {
			found = stringsIn(item, found)
		}
	}
	return found
}

// folders are the places in the tree that a kustomization builds on, beside its own folder.
func (l links) folders(dir string) []string {
	var all []string
	for _, entry := range slices.Concat(l.Resources, l.Bases, l.Components) {
		if to, is := placeOf(dir, entry); is {
			all = append(all, to)
		}
	}
	return all
}

// others are the places that any of its strings may name, also after a key: a patch, a file of
// a generator, the configuration of a transformer.
func (l links) others(dir string) []string {
	var all []string
	for _, text := range l.strings {
		_, value, _ := strings.Cut(text, "=")
		for _, entry := range []string{text, value} {
			if to, is := placeOf(dir, entry); is && to != "." && strings.Contains(entry, "/") {
				all = append(all, to)
			}
		}
	}
	return all
}

// placeOf is the place in the tree that an entry of a kustomization leads to. Each may be one, as a
// folder's name may have what looks like an address or several lines: one too many is no harm.
func placeOf(dir, entry string) (string, bool) {
	if path.IsAbs(entry) {
		return "", false
	}
	to := path.Join(dir, entry)
	return to, fs.ValidPath(to)
}
