package gitops

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestConverts has lines of attributes that git takes, in whatever spelling, and those that it passes over.
func TestConverts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ above, beside, want string }{
		"none":                       {"* text=auto\n*.sh text eol=lf\n*.yaml diff=x -ident !filter\n", "", ""},
		"another file":               {"*.bat text eol=crlf\n", "", ""},
		"line endings":               {"*.yaml text eol=crlf\n", "", "eol"},
		"ident":                      {"*.yaml ident\n", "", "ident"},
		"a file of its folder":       {"", "app.yaml filter=x\n", "filter"},
		"of two folders":             {"docs/** ident\n**/*.md ident\n", "", ""},
		"any folder":                 {"**/app.yaml ident\n", "", "ident"},
		"names behind stars":         {"**/*/app.yaml ident\n", "", "ident"},
		"stars in a name":            {"**.yaml ident\n", "", "ident"},
		"a class":                    {"app.y[[:alpha:]]ml ident\n", "", "ident"},
		"quotes":                     {"\"*.yam\\154\" ident\n", "", "ident"},
		"behind a bad line":          {"docs/x f@o\n*.yaml ident\n", "", "ident"},
		"a macro":                    {"[attr]one ident\n[attr]two one\n*.yaml two\n", "", "two"},
		"behind a macro of a folder": {"", "[attr]one diff\n*.yaml ident\n", "ident"},
		"behind a byte order mark":   {"\ufeff*.yaml ident\n", "", "ident"},
		"a long line before":         {"# " + strings.Repeat("x", 1<<17) + "\n*.yaml ident\n", "", "ident"},
	} {
		tree := fstest.MapFS{".gitattributes": {Data: []byte(test.above)}, "apps/.gitattributes": {Data: []byte(test.beside)}}
		if got := Converts(tree, "apps")("app.yaml"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
