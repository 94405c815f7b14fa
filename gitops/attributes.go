package gitops

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// converting are the attributes by which git checks out another content than a commit has: eol where it is crlf, which is the same as YAML
// but not where a generator reads a file as it is. https://git-scm.com/docs/gitattributes
var converting = []string{"ident", "filter", "working-tree-encoding", "eol=crlf"}

// blank is what separates the words of a line.
const blank = " \t\r\n"

// An attributeLine says which attributes are set, of the files of a pattern or by a macro's name. go-git reads them otherwise than git
// does: a pattern in quotes, ** before a name, and blank characters.
type attributeLine struct {
	macro string
	files filePattern
	sets  []string
}

var quoted = regexp.MustCompile(`^"(?:[^"\\]|\\.)*"`)

// parseAttributes reads a line of a folder's file; false: git passes over it.
func parseAttributes(line, folder string) (attributeLine, bool) {
	line = strings.Trim(line, blank)
	name := quoted.FindString(line)
	if name == "" {
		name = line[:strings.IndexAny(line+" ", blank)]
	}
	one := attributeLine{}
	if macro, is := strings.CutPrefix(name, "[attr]"); is && macro != "" {
		one.macro = macro
	} else {
		one.files = newFilePattern(name, folder)
	}
	if name == "" || strings.HasPrefix(name, "#") || strings.HasPrefix(name, "!") || one.macro != "" && folder != "." {
		return one, false
	}
	for _, text := range strings.FieldsFunc(line[len(name):], func(r rune) bool { return strings.ContainsRune(blank, r) }) {
		attribute, value, _ := strings.Cut(strings.TrimLeft(text, "-!"), "=")
		switch {
		case !attributeName.MatchString(attribute):
			return one, false
		case text[0] == '-' || text[0] == '!':
		case attribute == "eol":
			one.sets = append(one.sets, "eol="+value)
		default:
			one.sets = append(one.sets, attribute)
		}
	}
	return one, true
}

var attributeName = regexp.MustCompile(`^[a-zA-Z0-9_.][a-zA-Z0-9_.-]*$`)

// attributesAbove are the lines of the attributes of a folder and of those that it is in. What cannot be read has none.
func attributesAbove(tree fs.FS, folder string) (all []attributeLine) {
	for dir := path.Clean(folder); ; dir = path.Dir(dir) {
		for line := range strings.Lines(attributesText(tree, path.Join(dir, ".gitattributes"))) {
			if one, is := parseAttributes(line, dir); is {
				all = append(all, one)
			}
		}
		if dir == "." || dir == "/" {
			return all
		}
	}
}

// attributesText is what git may read in a file of attributes. It ends a line at a zero byte, and of a symbolic link, depending on
// the version and on whether it checks out, reads the target's name or what is there. Of what cannot be read here, such as one that is
// too large, any file may be meant.
// https://github.com/git/git/blob/v2.43.0/attr.c#L733-L800
func attributesText(tree fs.FS, file string) string {
	link, notLink := fs.ReadLink(tree, file) // it mostly is none
	content, err := fs.ReadFile(tree, file)
	if err != nil && notLink != nil && !errors.Is(err, fs.ErrNotExist) {
		return "* ident"
	}
	return strings.ReplaceAll(link+"\n"+strings.TrimPrefix(string(content), "\ufeff"), "\x00", "\n")
}

// A filePattern is one of a file of attributes. Of one that git alone is sure to read, any file may be meant.
type filePattern struct {
	glob string
	in   []string // the folder of the file
	any  bool
}

var simple = regexp.MustCompile(`^[!#-Z\]-~]+$`) // no quotes, classes, backslashes, blanks or letters that are several bytes

func newFilePattern(glob, folder string) filePattern {
	p := filePattern{glob: strings.NewReplacer("{", `\{`, "}", `\}`).Replace(glob)}
	p.any = !simple.MatchString(glob) || slices.ContainsFunc(strings.Split(glob, "/"), func(name string) bool {
		return name != "**" && strings.Contains(name, "**")
	})
	if strings.HasSuffix(glob, "/**") {
		p.glob += "/*" // the folder itself is not meant
	}
	if folder != "." {
		p.in = strings.Split(folder, "/")
	}
	return p
}

// matches tells whether a file has the name of a pattern without a slash, or the path of another one.
func (p filePattern) matches(file []string) bool {
	switch {
	case len(file) <= len(p.in) || !slices.Equal(file[:len(p.in)], p.in):
		return false
	case p.any:
		return true
	case strings.HasSuffix(p.glob, "/"):
		return false
	}
	name := file[len(file)-1]
	if strings.Contains(p.glob, "/") {
		name = path.Join(file[len(p.in):]...)
	}
	if strings.Contains(p.glob, "?") && !simple.MatchString(name) { // which is a byte for git
		return true
	}
	matches, err := doublestar.Match(strings.TrimPrefix(p.glob, "/"), name)
	return err == nil && matches
}

// Converts tells of the files of a folder, by their names, which attribute lets git check out another content than a commit
// has; empty: none does. One that another line says the opposite of is told too.
func Converts(tree fs.FS, folder string) func(name string) string {
	lines := attributesAbove(tree, folder)
	names := slices.Clone(converting)
	for more := true; more; { // a macro may name another one
		more = false
		for _, line := range lines {
			if line.macro != "" && setsOne(line, names) != "" && !slices.Contains(names, line.macro) {
				names, more = append(names, line.macro), true
			}
		}
	}
	return func(name string) string {
		file := strings.Split(path.Join(folder, name), "/")
		for _, unsure := range []bool{false, true} {
			for _, line := range lines {
				if attribute := setsOne(line, names); attribute != "" && line.macro == "" && line.files.any == unsure && line.files.matches(file) {
					return attribute
				}
			}
		}
		return ""
	}
}

// setsOne is the first of these attributes that a line sets; empty: it sets none.
func setsOne(line attributeLine, names []string) string {
	for _, attribute := range line.sets {
		if slices.Contains(names, attribute) {
			name, _, _ := strings.Cut(attribute, "=")
			return name
		}
	}
	return ""
}
