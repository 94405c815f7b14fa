package gitops

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitattributes"
)

// converting are the attributes by which git checks out another content than a commit has: eol where it is crlf, which is the same as YAML
// but not where a generator reads a file as it is. https://git-scm.com/docs/gitattributes
var converting = []string{"ident", "filter", "working-tree-encoding", "eol"}

// attributesAbove are the lines of the attributes of a folder and of those that it is in. What cannot be read has none.
func attributesAbove(tree fs.FS, folder string) (all []gitattributes.MatchAttribute) {
	for dir := path.Clean(folder); ; dir = path.Dir(dir) {
		if content, err := fs.ReadFile(tree, path.Join(dir, ".gitattributes")); err == nil {
			var domain []string
			if dir != "." {
				domain = strings.Split(dir, "/")
			}
			for line := range strings.Lines(strings.TrimPrefix(string(content), "\ufeff")) {
				one, err := gitattributes.ParseAttributesLine(line, domain, dir == ".")
				if err != nil || one.Name == "" { // git passes over it as well
					continue
				}
				if one.Pattern != nil && unsure(strings.TrimSpace(line)) {
					one.Pattern = anyFile{}
				}
				all = append(all, one)
			}
		}
		if dir == "." || dir == "/" {
			return all
		}
	}
}

// anyFile is a pattern that git may read otherwise than go-git does.
type anyFile struct{}

func (anyFile) Match([]string) bool { return true }

// unsure tells whether a line has a pattern that git may read otherwise than go-git does: one in quotes, a class of characters, ** in
// the middle of a name, and more than one name behind **, of which go-git tries the first folder alone.
func unsure(line string) bool {
	pattern := strings.Fields(line)[0]
	names := strings.Split(pattern, "/")
	several := slices.Index(names, "**")
	return strings.HasPrefix(line, `"`) || strings.ContainsAny(pattern, `[\`) || several >= 0 && several < len(names)-2 ||
		slices.ContainsFunc(names, func(name string) bool { return name != "**" && strings.Contains(name, "**") })
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
		for _, guessed := range []bool{false, true} {
			for _, line := range lines {
				_, guess := line.Pattern.(anyFile)
				if attribute := setsOne(line, names); attribute != "" && guess == guessed && line.Pattern != nil && line.Pattern.Match(file) {
					return attribute
				}
			}
		}
		return ""
	}
}

// setsOne is the first of these attributes that a line sets; empty: it sets none.
func setsOne(line gitattributes.MatchAttribute, names []string) string {
	for _, attribute := range line.Attributes {
		crlf := attribute.Name() != "eol" || attribute.Value() == "crlf"
		if (attribute.IsSet() || attribute.IsValueSet()) && crlf && slices.Contains(names, attribute.Name()) {
			return attribute.Name()
		}
	}
	return ""
}
