package gitops

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitattributes"
)

// converting are the attributes by which git checks out another content than a commit has, and another than the line
// endings that YAML takes for the same. https://git-scm.com/docs/gitattributes
var converting = []string{"ident", "filter", "working-tree-encoding"}

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

// Converts tells of the files of a folder, by their names, which attribute lets git check out another content than a commit
// has; empty: none does. One that another line says the opposite of is told too.
func Converts(tree fs.FS, folder string) func(name string) string {
	lines := attributesAbove(tree, folder)
	names := slices.Clone(converting)
	for more := true; more; { // a macro may name another one
		more = false
		for _, line := range lines {
			if line.Pattern == nil && setsOne(line, names) != "" && !slices.Contains(names, line.Name) {
				names, more = append(names, line.Name), true
			}
		}
	}
	return func(name string) string {
		file := strings.Split(path.Join(folder, name), "/")
		for _, line := range lines {
			if attribute := setsOne(line, names); attribute != "" && line.Pattern != nil && line.Pattern.Match(file) {
				return attribute
			}
		}
		return ""
	}
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
