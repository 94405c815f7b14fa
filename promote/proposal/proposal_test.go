package proposal_test

import (
	"fmt"
	"io/fs"
	"maps"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/proposal"
)

// TestFilesThatRunsGoBy has pull requests bring and take away what makes a run refuse the windows or the pipeline file,
// also where those files themselves stay as they are.
func TestFilesThatRunsGoBy(t *testing.T) {
	t.Parallel()
	const windowsFile = ".promote/windows.yaml"
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	link := func(to string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink} }
	for name, test := range map[string]struct {
		base, head        fstest.MapFS
		windows, pipeline string
	}{
		"nothing":                     {},
		"windows of the other ending": {head: fstest.MapFS{".promote/windows.yml": file("")}, windows: "frozen: there is .promote/windows.yml in its place, which is not read"},
		"a link to no folder":         {head: fstest.MapFS{".promote": link("gone")}, windows: "frozen: .promote is a symbolic link that leads to nothing"},
		"a folder of that name":       {head: fstest.MapFS{windowsFile + "/x": file("")}, windows: "frozen: expected a file: read .promote/windows.yaml: invalid argument"},
		"there already":               {base: fstest.MapFS{".promote/windows.yml": file("")}, head: fstest.MapFS{".promote/windows.yml": file("exclude: []")}},
		"taken away":                  {base: fstest.MapFS{".promote/windows.yml": file("")}},
		"renamed":                     {base: fstest.MapFS{windowsFile: file("")}, head: fstest.MapFS{".promote/windows.yml": file("")}, windows: "frozen: there is .promote/windows.yml in its place, which is not read"},
		"beside the file":             {base: fstest.MapFS{windowsFile: file("")}, head: fstest.MapFS{windowsFile: file(""), ".promote/windows.yml": file("")}},
		"a pipeline of the other ending": {head: fstest.MapFS{"knative-promote.yml": file("version: 1\n")},
			pipeline: "pipeline-unreadable: there is knative-promote.yml in its place, which is not read"},
		"a pipeline that is a folder":      {head: fstest.MapFS{pipeline.Name + "/x": file("")}, pipeline: "pipeline-unreadable: expected a file: read knative-promote.yaml: invalid argument"},
		"a pipeline that leads to nothing": {head: fstest.MapFS{pipeline.Name: link("gone")}, pipeline: "pipeline-unreadable: knative-promote.yaml is a symbolic link that leads to nothing"},
	} {
		base, head := fstest.MapFS{"README.md": file("")}, fstest.MapFS{"README.md": file("more")}
		maps.Copy(base, test.base)
		maps.Copy(head, test.head)
		p, err := proposal.Propose(t.Context(), proposal.Settings{}, proposal.Pull{Base: gitops.Snapshot{Tree: base}, Merged: gitops.Snapshot{Tree: head}})
		if err != nil {
			t.Fatal(err)
		}
		for _, asks := range []struct {
			what, want string
			changes    func() ([]proposal.FileChange, error)
		}{{"windows", test.windows, p.Windows}, {"pipeline", test.pipeline, func() ([]proposal.FileChange, error) { return []proposal.FileChange{p.Pipeline()}, nil }}} {
			changes, err := asks.changes()
			got := ""
			for _, change := range changes {
				for _, f := range change.Findings {
					got += fmt.Sprintf("%s: %s", f.Rule, f.Evidence)
				}
			}
			if err != nil || got != asks.want {
				t.Errorf("%s: %s: found %q, %v, want %q", name, asks.what, got, err, asks.want)
			}
		}
	}
}
