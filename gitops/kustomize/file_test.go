package kustomize_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// stands are what may stand in the place of a kustomization, by how it is made at a path.
var stands = []struct {
	name string
	make func(t *testing.T, at, text string)
}{
	{"nothing", func(*testing.T, string, string) {}},
	{"file", writeText},
	{"folder", func(t *testing.T, at, text string) { writeText(t, filepath.Join(at, "kustomization.yaml"), text) }},
	{"link to a file", func(t *testing.T, at, text string) {
		writeText(t, at+".target", text)
		linkTo(t, filepath.Base(at)+".target", at)
	}},
	{"link to nothing", func(t *testing.T, at, _ string) { linkTo(t, "absent", at) }},
	{"link to a folder", func(t *testing.T, at, text string) {
		writeText(t, filepath.Join(at+".d", "kustomization.yaml"), text)
		linkTo(t, filepath.Base(at)+".d", at)
	}},
}

func writeText(t *testing.T, at, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func linkTo(t *testing.T, target, at string) {
	t.Helper()
	if err := os.Symlink(target, at); err != nil {
		t.Fatal(err)
	}
}

// TestFileAsKustomize has each of these in the place of each of the names, and finds the file that kustomize itself renders,
// or an error where it renders none. It does not run beside renders, as kustomize has its schema in global variables.
func TestFileAsKustomize(t *testing.T) {
	root, names := t.TempDir(), []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
	for n := range len(stands) * len(stands) * len(stands) {
		dir, name, there := fmt.Sprintf("d%d", n), "", false
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		for i, left := 0, n; i < len(names); i, left = i+1, left/len(stands) {
			what := stands[left%len(stands)]
			what.make(t, filepath.Join(root, dir, names[i]), fmt.Sprintf("configMapGenerator: [{name: from-%s, literals: [a=b]}]\n", names[i]))
			name, there = name+names[i]+": "+what.name+"; ", there || what.name != "nothing"
		}
		want, got := renderedFrom(filepath.Join(root, dir), names), ""
		file, err := kustomize.File(os.DirFS(root), dir)
		if err == nil {
			got = file
		}
		if got != want {
			t.Errorf("%s: got %q, %v, and kustomize renders %q", name, got, err, want)
		}
		if errors.Is(err, fs.ErrNotExist) == there {
			t.Errorf("%s: is it said that there is nothing? %v", name, err)
		}
		if _, err := kustomize.Render(patient(t), os.DirFS(root), dir); (err == nil) != (want != "") {
			t.Errorf("%s: renders: %v, and kustomize renders %q", name, err, want)
		}
	}
}

// renderedFrom is which of the files kustomize renders of a folder; empty: none.
func renderedFrom(dir string, names []string) string {
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	resources, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return ""
	}
	for _, name := range names {
		if strings.HasPrefix(resources.Resources()[0].GetName(), "from-"+name+"-") {
			return name
		}
	}
	return ""
}

// TestTouchedWithoutOneFile has folders whose kustomization is not the only thing of its names, or no file: what kustomize
// renders is an overlay, and so is what it cannot render and somebody may have meant.
func TestTouchedWithoutOneFile(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	link := func(to string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink} }
	head := fstest.MapFS{
		"apps/folder/kustomization.yaml/.gitkeep": file(""), "apps/folder/Kustomization": file("resources: [../base]\n"),
		"apps/dangling/kustomization.yaml": link("absent"), "apps/dangling/Kustomization": file("resources: [../base]\n"),
		"apps/two/kustomization.yml": file("resources: []\n"), "apps/two/Kustomization": file("resources: [../base]\n"),
		"apps/none/kustomization.yaml/x": file(""), "apps/linked": link("two"),
		"apps/base/kustomization.yaml": file("resources: [a.yaml]\n"), "docs/out": link("../../elsewhere"), "docs/file": link("README.md"), "docs/README.md": file(""),
	}
	var changed []string
	for name := range head {
		changed = append(changed, name)
	}
	got, _, err := kustomize.Touched(fstest.MapFS{}, head, changed, none)
	want := []string{"apps/dangling", "apps/folder", "apps/linked", "apps/none"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, touched (-want +got):\n%s", err, diff)
	}
	all, err := kustomize.Folders(head)
	want = []string{"apps/base", "apps/dangling", "apps/folder", "apps/linked", "apps/none", "apps/two"}
	if diff := cmp.Diff(want, all); diff != "" || err != nil {
		t.Errorf("%v, folders (-want +got):\n%s", err, diff)
	}
}
