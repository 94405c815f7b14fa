package check

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitattributes"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// converting are the attributes by which git checks out another content than a commit has, and another than the line
// endings that YAML takes for the same. https://git-scm.com/docs/gitattributes
var converting = []string{"ident", "filter", "working-tree-encoding"}

// findConverted looks for manifests of the overlay, and of what it builds on, that git checks out as something else. One
// that another line says the opposite of is found too.
func findConverted(f Facts) []found {
	if f.Tree == nil || f.Request.Overlay == "" {
		return nil
	}
	var all []found
	for _, folder := range append([]string{f.Request.Overlay}, kustomize.Below(f.Tree, f.Request.Overlay)...) {
		lines := attributesAbove(f.Tree, folder)
		entries, err := fs.ReadDir(f.Tree, folder)
		if err != nil || len(lines) == 0 {
			continue
		}
		for _, entry := range entries {
			file := path.Join(folder, entry.Name())
			if attribute := converts(lines, file); attribute != "" && isManifest(entry.Name()) {
				all = append(all, found{at: place{file, 1}, values: values{"Name": file, "Attribute": attribute}})
			}
		}
	}
	return all
}

// attributesAbove are the lines of the attributes of a folder and of those that it is in. What cannot be read has none.
func attributesAbove(tree fs.FS, folder string) (all []gitattributes.MatchAttribute) {
	for dir := path.Clean(folder); ; dir = path.Dir(dir) {
		if content, err := fs.ReadFile(tree, path.Join(dir, ".gitattributes")); err == nil {
			var domain []string
			if dir != "." {
				domain = strings.Split(dir, "/")
			}
			lines, _ := gitattributes.ReadAttributes(bytes.NewReader(content), domain, dir == ".")
			all = append(all, lines...)
		}
		if dir == "." || dir == "/" {
			return all
		}
	}
}

// converts is the attribute of a file by which it is checked out as something else; empty: it has none.
func converts(lines []gitattributes.MatchAttribute, file string) string {
	names := slices.Clone(converting)
	for _, line := range lines {
		if line.Pattern == nil && setsOne(line, converting) != "" { // a macro
			names = append(names, line.Name)
		}
	}
	for _, line := range lines {
		if name := setsOne(line, names); name != "" && line.Pattern != nil && line.Pattern.Match(strings.Split(file, "/")) {
			return name
		}
	}
	return ""
}

// setsOne is the first of these attributes that a line sets; empty: it sets none.
func setsOne(line gitattributes.MatchAttribute, names []string) string {
	for _, attribute := range line.Attributes {
		if (attribute.IsSet() || attribute.IsValueSet()) && slices.Contains(names, attribute.Name()) {
			return attribute.Name()
		}
	}
	return ""
}

// isManifest tells whether kustomize may read a file of this name as YAML.
func isManifest(name string) bool {
	return name == "Kustomization" || slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}
