// Package golden compares what tests get with what testdata wants, and writes
// it there where the tests are run with -update.
//
// Most of it are cases: txtar archives with the parts that a test starts from
// and the parts that it wants.
package golden

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write what the tests get into what they want")

// Update tells whether the tests write what they want.
func Update() bool { return *update }

// Run runs every case that a pattern finds, and compares the part named output
// with what render makes of the others.
func Run(t *testing.T, pattern, output string, render func(t *testing.T, parts map[string][]byte) string) {
	t.Helper()
	for _, c := range Cases(t, pattern) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			got := render(t, Parts(t, c.Path, ""))
			Compare(t, c.Path, map[string]string{output: got}, output)
		})
	}
}

// A Case is an archive. Its name is its path behind what a pattern begins with,
// up to the first star.
type Case struct{ Name, Path string }

// Cases are the archives that a pattern finds, in the order of their paths.
func Cases(t testing.TB, pattern string) []Case {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("looking for cases: no file %s, %v", pattern, err)
	}
	before, _, _ := strings.Cut(pattern, "*")
	var cases []Case
	for _, path := range paths {
		cases = append(cases, Case{strings.TrimSuffix(filepath.ToSlash(path[len(before):]), ".txtar"), path})
	}
	return cases
}

// Parts are the parts of an archive. It starts from those of another one: of
// base, or of the one beside base that its part "from" names. With an empty
// base it stands for itself, and "from" names one beside it.
//
// A part "NAME.patch" is a JSON merge patch of the part NAME, "NAME.gone" takes
// that away, and "want" is never another archive's.
func Parts(t testing.TB, path, base string) map[string][]byte {
	t.Helper()
	archive := read(t, path)
	parts := map[string][]byte{}
	if from := start(archive, path, base); from != "" {
		parts = Parts(t, from, base)
		delete(parts, "want")
	}
	for _, file := range archive.Files {
		name, patched := strings.CutSuffix(file.Name, ".patch")
		gone, taken := strings.CutSuffix(file.Name, ".gone")
		switch {
		case file.Name == "from":
		case patched:
			parts[name] = mergePatch(t, path, parts[name], file.Data)
		case taken && parts[gone] == nil:
			t.Fatalf("%s: %s: there is no %s", path, file.Name, gone)
		case taken:
			delete(parts, gone)
		default:
			parts[file.Name] = file.Data
		}
	}
	return parts
}

// start is the archive that another one starts from; empty: none.
func start(archive *txtar.Archive, path, base string) string {
	if path == base {
		return ""
	}
	for _, file := range archive.Files {
		if file.Name == "from" {
			beside := base
			if beside == "" {
				beside = path
			}
			return filepath.Join(filepath.Dir(beside), strings.TrimSpace(string(file.Data))+".txtar")
		}
	}
	return base
}

func mergePatch(t testing.TB, path string, original, patch []byte) []byte {
	t.Helper()
	if len(original) == 0 {
		original = []byte("{}")
	}
	before, errBefore := yaml.YAMLToJSON(original)
	change, errChange := yaml.YAMLToJSON(patch)
	merged, errMerge := jsonpatch.MergePatch(before, change)
	text, errText := yaml.JSONToYAML(merged)
	if err := errors.Join(errBefore, errChange, errMerge, errText); err != nil {
		t.Fatalf("%s: applying a patch: %v", path, err)
	}
	return text
}

// Compare compares the parts of an archive that have these names with what a
// test got; a part that it did not get must not be there.
func Compare(t testing.TB, path string, got map[string]string, names ...string) {
	t.Helper()
	archive, want := read(t, path), map[string]string{}
	for _, file := range archive.Files {
		if slices.Contains(names, file.Name) {
			want[file.Name] = string(file.Data)
		}
	}
	diff := cmp.Diff(want, got)
	if diff == "" {
		return
	}
	if !*update {
		t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
		return
	}
	archive.Files = slices.DeleteFunc(archive.Files, func(file txtar.File) bool { return slices.Contains(names, file.Name) })
	for _, name := range names {
		if text, there := got[name]; there {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
		}
	}
	write(t, path, txtar.Format(archive))
}

// File compares a file with what a test got. With -update it need not be there.
func File(t testing.TB, path, got string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	diff := cmp.Diff(string(want), got)
	if diff == "" && err == nil {
		return
	}
	if !*update {
		t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
		return
	}
	write(t, path, []byte(got))
}

func read(t testing.TB, path string) *txtar.Archive {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
