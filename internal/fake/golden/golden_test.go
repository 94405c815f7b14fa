package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A recorder is a test that notes how it fails.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.failed += fmt.Sprintf(format, args...) }

// Fatalf does not return, as that of a test.
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// failure is how a test fails that does this.
func failure(t *testing.T, does func(testing.TB)) (text string) {
	t.Helper()
	r := &recorder{TB: t}
	defer func() {
		if cause := recover(); cause != nil && cause != any(r) {
			panic(cause)
		}
		text = r.failed
	}()
	does(r)
	return
}

// archives writes files to a folder of their own.
func archives(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestParts(t *testing.T) {
	folder := archives(t, map[string]string{
		"good.txtar":  "-- a --\nx: 1\nz: 2\n-- b --\nbe\n-- want --\ngood's\n",
		"other.txtar": "-- a.patch --\nx: 3\n",
		"next.txtar":  "-- from --\nother\n-- a.patch --\nz: null\n-- b.gone --\n-- want --\nnext's\n",
		"wrong.txtar": "-- c.gone --\n",
	})
	for _, test := range []struct {
		name, base string
		want       map[string]string
	}{
		{"good", "", map[string]string{"a": "x: 1\nz: 2\n", "b": "be\n", "want": "good's\n"}},
		{"good", "good", map[string]string{"a": "x: 1\nz: 2\n", "b": "be\n", "want": "good's\n"}},
		{"other", "", map[string]string{"a": "x: 3\n"}},
		{"other", "good", map[string]string{"a": "x: 3\nz: 2\n", "b": "be\n"}},
		{"next", "good", map[string]string{"a": "x: 3\n", "want": "next's\n"}},
	} {
		base := ""
		if test.base != "" {
			base = filepath.Join(folder, test.base+".txtar")
		}
		got := map[string]string{}
		for name, text := range Parts(t, filepath.Join(folder, test.name+".txtar"), base) {
			got[name] = string(text)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s on %q (-want +got):\n%s", test.name, test.base, diff)
		}
	}
	wrong := failure(t, func(t testing.TB) { Parts(t, filepath.Join(folder, "wrong.txtar"), "") })
	if !strings.Contains(wrong, "c.gone: there is no c") {
		t.Errorf("taking away what is not there: %q", wrong)
	}
}

func TestCases(t *testing.T) {
	folder := archives(t, map[string]string{"b.txtar": "", "a.txtar": "", "c.txt": ""})
	want := []Case{{"a", filepath.Join(folder, "a.txtar")}, {"b", filepath.Join(folder, "b.txtar")}}
	if diff := cmp.Diff(want, Cases(t, filepath.Join(folder, "*.txtar"))); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	if none := failure(t, func(t testing.TB) { Cases(t, filepath.Join(folder, "*.md")) }); !strings.Contains(none, "no file") {
		t.Errorf("no case: %q", none)
	}
}

// TestCompare compares, writes with -update, and compares again.
func TestCompare(t *testing.T) {
	const before, after = "why\n-- in --\nx\n-- diff --\nold\n-- error --\ngone\n", "why\n-- in --\nx\n-- diff --\nnew\n"
	folder := archives(t, map[string]string{"case.txtar": before, "file": "old"})
	path, file := filepath.Join(folder, "case.txtar"), filepath.Join(folder, "file")
	compare := func(t testing.TB) { Compare(t, path, map[string]string{"diff": "new\n"}, "diff", "error") }
	compareFile := func(t testing.TB) { File(t, file, "new") }
	missing := func(t testing.TB) { File(t, filepath.Join(folder, "new"), "") }
	for _, does := range []func(testing.TB){compare, compareFile, missing} {
		if failure(t, does) == "" {
			t.Error("a difference was not found")
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != before {
		t.Errorf("without -update it wrote %q, %v", text, err)
	}
	was := *update
	*update = true
	for _, does := range []func(testing.TB){compare, compareFile, missing} {
		does(t)
	}
	*update = was
	if text, err := os.ReadFile(path); err != nil || string(text) != after {
		t.Errorf("with -update it wrote %q, %v", text, err)
	}
	for _, does := range []func(testing.TB){compare, compareFile, missing} {
		if failed := failure(t, does); failed != "" {
			t.Errorf("with what was written: %s", failed)
		}
	}
}
