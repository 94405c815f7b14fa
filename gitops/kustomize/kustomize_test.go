package kustomize_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/kustomize"
)

func TestFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names     []string
		want, err string
	}{
		{[]string{"kustomization.yaml"}, "kustomization.yaml", ""},
		{[]string{"kustomization.yml", "other.yaml"}, "kustomization.yml", ""},
		{[]string{"Kustomization"}, "Kustomization", ""},
		{[]string{"README.md"}, "", "looking for the kustomization of a/b: file does not exist: expected kustomization.yaml, kustomization.yml, Kustomization"},
		{[]string{"other.yaml", "web.yml"}, "", "looking for the kustomization of a/b: file does not exist: expected kustomization.yaml, kustomization.yml, Kustomization; it has manifests without one: add kustomization.yaml with resources: [other.yaml, web.yml]"},
		{[]string{"1.yaml", "2.yaml", "3.yaml", "4.yaml", "5.yaml", "6.yaml"}, "", "looking for the kustomization of a/b: file does not exist: expected kustomization.yaml, kustomization.yml, Kustomization; it has manifests without one: add kustomization.yaml with resources: [1.yaml, 2.yaml, 3.yaml, 4.yaml, 5.yaml, …]"},
		{[]string{"Chart.yaml", "values.yaml"}, "", "looking for the kustomization of a/b: file does not exist: expected kustomization.yaml, kustomization.yml, Kustomization; it is a Helm chart: commit what the chart renders to, in a folder with a kustomization that names it in resources"},
		{[]string{"kustomization.yaml", "Kustomization"}, "", "looking for the kustomization of a/b: found kustomization.yaml and Kustomization; kustomize wants exactly one, remove the others"},
	} {
		files := fstest.MapFS{}
		for _, name := range c.names {
			withFile(files, "a/b/"+name, "")
		}
		got, err := kustomize.File(files, "a/b")
		if got != c.want || err != nil && err.Error() != c.err || err == nil && c.err != "" {
			t.Errorf("%v: got %q, %v", c.names, got, err)
		}
		if len(c.names) == 1 && c.want == "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	src := `namespace: &v v1
images:
- {name: a, newName: b, newTag: "1.10", tagSuffix: -slim}
- name: c
  digest: ` + digest + `
- name: a
  newTag: *v
imageTags:
- name: old
`
	got, err := kustomize.Images([]byte(src))
	want := []kustomize.Image{
		{Name: "a", NewName: "b", NewTag: "1.10", TagSuffix: "-slim"},
		{Name: "c", Digest: digest},
		{Name: "a", NewTag: "v1"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := kustomize.Images([]byte("images: a")); err == nil {
		t.Error("read a list from a string")
	}
}

// TestRestoreImagesFrom restores from versions that differ in more than the entry.
func TestRestoreImagesFrom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, src, from, want string }{
		{"own text with its comments", "images:\n- name: app\n  newTag: v2\n- name: b\n", "images:\n- name: app # the app\n  newTag: 'v1' # old\n",
			"images:\n- name: app # the app\n  newTag: 'v1' # old\n- name: b\n"},
		{"other indentation", "images:\n  - name: app\n    newTag: v2\n", "images:\n- name: app\n  newName: b\n  newTag: v1\n",
			"images:\n  - name: app\n    newName: b\n    newTag: v1\n"},
		{"other style", "images:\n- name: app\n  newTag: v2\n", "images: [{name: app, digest: '" + digest + "'}]\n",
			"images:\n- name: app\n  digest: " + digest + "\n"},
		{"gone meanwhile", "namespace: a\n", "namespace: a\nimages:\n- name: app\n  newTag: v1\n", "namespace: a\nimages:\n- name: app\n  newTag: v1\n"},
		{"added meanwhile", "images:\n- name: b\n- name: app\n  newTag: v2\n", "images:\n- name: b\n", "images:\n- name: b\n"},
		{"only entry added meanwhile", "namespace: a\nimages: # ours\n- name: app\n", "namespace: a\n", "namespace: a\n"},
		{"entry added to an empty list", "images: [{name: app}]\n", "images: []\n", "images: []\n"},
		{"in neither", "namespace: a\n", "namespace: b\n", "namespace: a\n"},
		{"merged meanwhile", "images:\n- name: app\n  newTag: v2\n", "images:\n- name: app\n  newTag: v0\n- name: app\n  newTag: v1\n",
			"images:\n- name: app\n  newTag: v0\n- name: app\n  newTag: v1\n"},
		{"a value that is not valid", "images:\n- name: app\n  newTag: v2\n", "images: [{name: app, newTag: '*', tagSuffix: \"\\n\"}]\n",
			"images:\n- name: app\n  newTag: \"*\"\n  tagSuffix: \"\\n\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := kustomize.RestoreImages([]byte(c.src), []byte(c.from), "app")
			if diff := cmp.Diff(c.want, string(got)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// recorder notes what is looked at in a tree.
type recorder struct {
	fstest.MapFS
	mu     sync.Mutex
	looked map[string]int
}

func (r *recorder) note(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked[name]++
}

func (r *recorder) Open(name string) (fs.File, error) {
	r.note("open " + name)
	return r.MapFS.Open(name)
}

func (r *recorder) ReadFile(name string) ([]byte, error) {
	r.note("read " + name)
	return r.MapFS.ReadFile(name)
}

func (r *recorder) ReadDir(name string) ([]fs.DirEntry, error) {
	r.note("list " + name)
	return r.MapFS.ReadDir(name)
}

func (r *recorder) Lstat(name string) (fs.FileInfo, error) {
	r.note("in " + path.Dir(name))
	return r.MapFS.Lstat(name)
}

// TestRenderReadsLittle expects that a tree that is loaded folder by folder is loaded where the overlay points only.
func TestRenderReadsLittle(t *testing.T) {
	t.Parallel()
	// No other test has a kustomization of this length, whose render is remembered and compared with this one.
	files := tree(t, []byte("resources: [../../base, service.yaml]\npatches: [{path: patches/scale.yaml}]\n#"+strings.Repeat("-", 4_321)+"\n"))
	withFile(files, "apps/other/kustomization.yaml", "resources: []\n")
	r := &recorder{MapFS: files, looked: map[string]int{}}
	if _, err := kustomize.Render(patient(t), r, overlay); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"in .", "in apps", "in apps/shop", "in apps/shop/base", "in apps/shop/overlays", "in " + overlay, "in " + overlay + "/patches",
		"read apps/shop/base/kustomization.yaml", "read apps/shop/base/worker.yaml",
		"read " + overlay + "/kustomization.yaml", "read " + overlay + "/patches/scale.yaml", "read " + overlay + "/service.yaml",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(r.looked))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, times := range r.looked {
		if strings.HasPrefix(name, "read ") && times != 1 {
			t.Errorf("%s: %d times", name, times)
		}
	}
}

// TestRenderSchemas renders overlays with and without a schema of their own side by side: kustomize keeps the schema in
// global variables.
func TestRenderSchemas(t *testing.T) {
	t.Parallel()
	patch := "patches: [{path: containers.yaml}]\nresources: [service.yaml]\n"
	const schema = `{"definitions": {"v1.Service": {"type": "object",
"x-kubernetes-group-version-kind": [{"group": "serving.knative.dev", "version": "v1", "kind": "Service"}],
"properties": {"spec": {"type": "object", "properties": {"list": {"type": "array",
"items": {"type": "object", "properties": {"name": {"type": "string"}}},
"x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}}}}}}}`
	object := func(name string) string {
		return "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: shop}\nspec: {list: [{name: " + name + "}]}\n"
	}
	plain := withFile(withFile(tree(t, []byte(patch)), overlay+"/service.yaml", object("a")), overlay+"/containers.yaml", object("b"))
	own := maps.Clone(plain)
	withFile(withFile(own, overlay+"/kustomization.yaml", patch+"openapi: {path: schema.json}\n"), overlay+"/schema.json", schema)
	var done sync.WaitGroup
	for i := range 10 {
		files, want := plain, 1
		if i%2 == 0 {
			files, want = own, 2
		}
		done.Go(func() {
			out, err := kustomize.Render(patient(t), files, overlay)
			if got := strings.Count(string(out), "- name:"); err != nil || got != want {
				t.Errorf("got %d entries, %v, want %d", got, err, want)
			}
		})
	}
	done.Wait()
	compareBuild(t, own)
}

// TestExample sets, patches and restores the example repository's overlays.
func TestExample(t *testing.T) {
	t.Parallel()
	infra := os.DirFS("../../testdata/infra")
	overlays, err := fs.Glob(infra, "apps/*/overlays/*")
	if err != nil || len(overlays) == 0 {
		t.Fatal(overlays, err)
	}
	for _, dir := range overlays {
		name, err := kustomize.File(infra, dir)
		if err != nil {
			t.Fatal(err)
		}
		src, err := fs.ReadFile(infra, path.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		images, err := kustomize.Images(src)
		if err != nil || len(images) != 1 {
			t.Fatal(images, err)
		}
		got, err := kustomize.SetImage(src, kustomize.Image{Name: images[0].Name, NewTag: "v2.0.0"})
		want := strings.Replace(string(src), images[0].NewTag, "v2.0.0", 1)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", dir, err, got)
		}
		if _, err := kustomize.Render(patient(t), infra, dir); err != nil {
			t.Error(err)
		}
	}
}
