package check

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// files are what the overlay is made from, for people to find a place in.
type files struct {
	kustomization string     // the path of the overlay's own
	entries       []document // what that holds
	documents     []document // of resources and patches, the ones that win first
	kinds         map[string][]document
}

// A document is one YAML document of a file.
type document struct {
	file string
	root *yaml.Node
	name string
}

// once are the files, read once for all rules that are asked together.
func (f Facts) once() files {
	if f.read == nil {
		return filesOf(f)
	}
	return f.read()
}

// filesOf reads them.
func filesOf(f Facts) (all files) {
	if f.Overlay == nil {
		return all
	}
	file, content, err := f.Overlay.Kustomization()
	if all.kustomization = file; err == nil {
		all.entries = decode(file, content)
	}
	if f.Tree != nil {
		all.documents = folder(f.Tree, f.Overlay.Overlay, 0)
	}
	all.kinds = map[string][]document{}
	for _, doc := range all.documents {
		kind := text(doc.root, "apiVersion") + " " + text(doc.root, "kind")
		all.kinds[kind] = append(all.kinds[kind], doc)
	}
	return all
}

// of are the documents that a rendered object may come from: those of its name, or else those from whose name kustomize may
// have made it, with a prefix, a suffix or a hash.
func (f files) of(apiVersion, kind, name string) (docs []document) {
	exact := false
	for _, doc := range f.kinds[apiVersion+" "+kind] {
		switch is := doc.name == name; {
		case is && !exact:
			exact, docs = true, []document{doc}
		case is || !exact && doc.name != "" && strings.Contains(name, doc.name):
			docs = append(docs, doc)
		}
	}
	return docs
}

// deepest is more layers of bases than anybody has. Rendering has refused
// folders that refer to themselves.
const deepest = 20

func folder(tree fs.FS, dir string, depth int) []document {
	k, err := kustomize.Read(tree, dir)
	if err != nil || depth > deepest {
		return nil
	}
	var all []document
	for _, patch := range slices.Backward(k.Patches) {
		all = append(all, file(tree, dir, patch.Path)...)
	}
	//lint:ignore SA1019 kustomize still reads it
	for _, patch := range slices.Backward(k.PatchesStrategicMerge) {
		all = append(all, file(tree, dir, string(patch))...)
	}
	for _, name := range slices.Concat(k.Components, k.Resources) {
		at := path.Join(dir, name)
		if info, err := fs.Stat(tree, at); err == nil && info.IsDir() {
			all = append(all, folder(tree, at, depth+1)...)
		} else {
			all = append(all, file(tree, dir, name)...)
		}
	}
	return all
}

// file reads an entry of a kustomization. An inline patch is no file's name.
func file(tree fs.FS, dir, name string) []document {
	at := path.Join(dir, name)
	if name == "" || !fs.ValidPath(at) {
		return nil
	}
	content, err := fs.ReadFile(tree, at)
	if err != nil {
		return nil
	}
	return decode(at, content)
}

func decode(file string, content []byte) []document {
	var all []document
	for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var doc yaml.Node
		if decoder.Decode(&doc) != nil {
			return all
		}
		if len(doc.Content) > 0 {
			root := doc.Content[0]
			all = append(all, document{file, root, text(root, "metadata", "name")})
		}
	}
}
