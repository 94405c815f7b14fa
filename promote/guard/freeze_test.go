package guard

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
)

// TestSchedule has what may be in the place of the file of windows.
func TestSchedule(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	link := func(to string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
	}
	const after = "; nothing gets more traffic until it can be read: correct it in the infra repository"
	for _, test := range []struct {
		name, windows string
		tree          fs.FS
		exists        bool
		want          string
	}{
		{"nothing", "", fstest.MapFS{}, false, ""},
		{"no folder", "", fstest.MapFS{".promote": file("")}, false, ""},
		{"a file", "", fstest.MapFS{DefaultWindows: file("exclude: []")}, true, ""},
		{"a link to a file", "", fstest.MapFS{DefaultWindows: link("../all.yaml"), "all.yaml": file("")}, true, ""},
		{"a file of another name", "a.yaml", fstest.MapFS{"a.yaml": file("")}, true, ""},
		{"a file that is wrong", "", fstest.MapFS{DefaultWindows: file("stop: {}")}, true,
			DefaultWindows + ": line 1: stop: the reason is missing: expected one for people, for example: {reason: incident 4711}" + after},
		{"a file that is named and is not there", "a.yaml", fstest.MapFS{DefaultWindows: file("")}, false,
			"a.yaml: windows: not found at commit 3f9c2d1e8a: expected a file, relative to the infra repository's root" + after},
		{"a folder", "", fstest.MapFS{DefaultWindows + "/x": file("")}, true,
			DefaultWindows + ": expected a file: read .promote/windows.yaml: invalid argument" + after},
		{"a link to nothing", "", fstest.MapFS{DefaultWindows: link("all.yaml")}, true,
			DefaultWindows + ": expected a file: open .promote/windows.yaml: file does not exist" + after},
		{"a server that fails", "", failingFS{remote.ErrAuth}, true, "reading the windows: access denied"},
	} {
		at := gitops.Snapshot{Commit: gitops.Commit{Hash: "3f9c2d1e8a71e0c4b0d5f2a96c1e7d3b4a5f6071"}, Tree: test.tree}
		_, exists, err := Settings{Windows: test.windows}.Schedule(at)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if exists != test.exists || text != test.want {
			t.Errorf("%s: exists %t, %q, want %t, %q", test.name, exists, text, test.exists, test.want)
		}
		if IsFreeze(err) == errors.Is(err, remote.ErrAuth) && err != nil {
			t.Errorf("%s: the kind of the error is wrong: %v", test.name, err)
		}
	}
}

// failingFS fails always.
type failingFS struct{ err error }

func (f failingFS) Open(string) (fs.File, error) { return nil, f.err }
