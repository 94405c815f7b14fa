package gitops

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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
		"a name behind stars":        {"**/* ident\n", "", "ident"},
		"stars in a name":            {"**.yaml ident\n", "", "ident"},
		"a class":                    {"app.y[[:alpha:]]ml ident\n", "", "ident"},
		"quotes":                     {"\"*.yam\\154\" ident\n", "", "ident"},
		"behind a bad line":          {"docs/x f@o\n*.yaml ident\n", "", "ident"},
		"a macro":                    {"[attr]one ident\n[attr]two one\n*.yaml two\n", "", "two"},
		"behind a macro of a folder": {"", "[attr]one diff\n*.yaml ident\n", "ident"},
		"nothing in quotes":          {"\"\"\n[attr]\n!app.yaml ident\n", "", ""},
		"a mark for a byte":          {"a?.yaml ident\n", "", ""},
		"a space of no width":        {"app.yaml\u00a0x ident\n", "", "ident"},
		"behind quotes":              {"\"a b\"ident\n", "", "ident"},
		"behind a byte order mark":   {"\ufeff*.yaml ident\n", "", "ident"},
		"before a zero byte":         {"*.yaml ident\x00\n", "", "ident"},
		"a long line before":         {"# " + strings.Repeat("x", 1<<17) + "\n*.yaml ident\n", "", "ident"},
	} {
		tree := fstest.MapFS{".gitattributes": {Data: []byte(test.above)}, "apps/.gitattributes": {Data: []byte(test.beside)}}
		if got := Converts(tree, "apps")("app.yaml"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestConvertsByWhatCannotBeRead has a file of attributes that is larger than what a tree gives out.
func TestConvertsByWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	if got := Converts(unreadable{fstest.MapFS{".gitattributes": {}}}, "apps")("app.yaml"); got != "ident" {
		t.Errorf("%q", got)
	}
}

type unreadable struct{ fstest.MapFS }

func (unreadable) ReadFile(string) ([]byte, error) { return nil, errors.New("too large") }

// TestConvertsByALink has a symbolic link whose target reads as a line of attributes, which git checks out by.
func TestConvertsByALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const line = "**/*.yaml ident"
	if err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).Run(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(line, filepath.Join(dir, ".gitattributes")); err != nil {
		t.Fatal(err)
	}
	if err := exec.CommandContext(t.Context(), "git", "-C", dir, "add", ".gitattributes").Run(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "check-attr", "--cached", "ident", "app.yaml").Output()
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{".gitattributes": {Data: []byte(line), Mode: fs.ModeSymlink}}
	if got := Converts(tree, ".")("app.yaml"); got != "ident" || !bytes.Contains(out, []byte("ident: set")) {
		t.Errorf("%q, and by git %s", got, out)
	}
}

// TestConvertsAsGit has patterns at random: what git says of a file is what is told of it, where it is not told of each file.
func TestConvertsAsGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).Run(); err != nil {
		t.Fatal(err)
	}
	files := []string{"app.yaml", "apps/app.yaml", "apps/web/app.yaml", "apps/web/web/app.yaml", "apps/web/x/k.yml", "web/{a}.yaml", "x/apps/y/k.yml", "apps/é.yaml"}
	matched := 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 3))
		lines := fmt.Sprintf("%s ident\n", anyPattern(random))
		folder := []string{".", "apps"}[random.IntN(2)]
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		where := filepath.Join(folder, ".gitattributes")
		if err := os.WriteFile(filepath.Join(dir, where), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "check-attr", "ident", "--"}, files...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		tree := fstest.MapFS{where: {Data: []byte(lines)}}
		for i, line := range strings.Split(string(bytes.TrimSpace(out)), "\n") {
			want := strings.HasSuffix(line, ": ident: set")
			got := Converts(tree, filepath.Dir(files[i]))(filepath.Base(files[i])) != ""
			if got != want && (want || !forGit(lines)) {
				t.Errorf("%q in %s, of %s: %t, and by git %t", lines, where, files[i], got, want)
			}
			if want {
				matched++
			}
		}
		if err := os.Remove(filepath.Join(dir, where)); err != nil {
			t.Fatal(err)
		}
	}
	if matched < 100 {
		t.Errorf("only %d files were matched", matched)
	}
}

// forGit tells whether a pattern is one that is told of each file.
func forGit(line string) bool {
	for name := range strings.SplitSeq(line, "/") {
		if name != "**" && strings.Contains(name, "**") || strings.ContainsAny(name, "[\u00a0?") {
			return true
		}
	}
	return false
}

func anyPattern(random *rand.Rand) (pattern string) {
	names := []string{"*", "**", "**", "apps", "web", "a*", "app.yaml", "*.yaml", "*.yml", "k.*", "?pps", "{a}.yaml", "a**", "[a-w]eb", "x", "??.yaml", "\u00a0"}
	for i := range 1 + random.IntN(4) {
		if i > 0 || random.IntN(5) == 0 {
			pattern += "/"
		}
		pattern += names[random.IntN(len(names))]
	}
	if random.IntN(8) == 0 {
		pattern += "/"
	}
	return pattern
}
