package guard

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/promote/pipeline"
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
			DefaultWindows + ": .promote/windows.yaml is a symbolic link that leads to nothing" + after},
		{"a folder that is a link to nothing", "", fstest.MapFS{".promote": link("platform")}, true,
			DefaultWindows + ": .promote is a symbolic link that leads to nothing" + after},
		{"a folder that is a link to one without the file", "", fstest.MapFS{".promote": link("platform"), "platform/x": file("")}, false, ""},
		{"the other ending", "", fstest.MapFS{".promote/windows.yml": file("")}, true,
			DefaultWindows + ": there is .promote/windows.yml in its place, which is not read" + after},
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

// TestPipelineThatIsMeant has what somebody has meant for the pipeline file.
func TestPipelineThatIsMeant(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tree fstest.MapFS
		want string
	}{
		"nothing":           {fstest.MapFS{}, ""},
		"a link to nothing": {fstest.MapFS{pipeline.Name: {Data: []byte("platform/x.yaml"), Mode: fs.ModeSymlink | 0o777}}, "knative-promote.yaml is a symbolic link that leads to nothing"},
		"a folder":          {fstest.MapFS{pipeline.Name + "/x": {}}, "expected a file: read knative-promote.yaml: invalid argument"},
		"the other ending":  {fstest.MapFS{"knative-promote.yml": {}}, "there is knative-promote.yml in its place, which is not read"},
	} {
		_, err := ReadPipeline(gitops.Snapshot{Tree: test.tree}, pipeline.Keys{})
		switch wrong, is := errors.AsType[*PipelineError](err); {
		case test.want == "" && err == nil:
		case !is || wrong.Err.Error() != test.want:
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// failingFS fails always.
type failingFS struct{ err error }

func (f failingFS) Open(string) (fs.File, error) { return nil, f.err }
