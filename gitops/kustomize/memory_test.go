package kustomize_test

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// TestRenderNoticesEveryChange changes, removes and adds each file of a tree in turn. What the tree rendered to before
// is remembered, and must not come back; the kustomize command says what must.
func TestRenderNoticesEveryChange(t *testing.T) {
	files := tree(t, []byte(`resources: [../../base, service.yaml, deployment.yaml]
components: [../../components/tracing]
patches: [{path: patches/scale.yaml}]
transformers: [prefix.yaml]
configMapGenerator: [{name: colours, files: [config.properties, linked.properties]}]
`))
	files[overlay+"/linked.properties"] = &fstest.MapFile{Data: []byte("config.properties"), Mode: 0o777 | fs.ModeSymlink}
	before := rendered(t, files)
	seen, tried := 0, 0
	for n, name := range slices.Sorted(maps.Keys(files)) {
		trees := changes(files, name)
		for i, what := range slices.Sorted(maps.Keys(trees)) {
			if !*every && i != n%len(trees) {
				continue
			}
			tried++
			changed := trees[what]
			want, failed := run(t, onDisk(t, changed), "build", ".")
			got, err := kustomize.Render(patient(t), changed, overlay)
			if (err == nil) != (failed == nil) {
				t.Errorf("%s %s: error %v, and that of kustomize build %v", name, what, err, failed)
			}
			if diff := cmp.Diff(string(want), string(got)); err == nil && diff != "" {
				t.Errorf("%s %s (-kustomize build +ours):\n%s", name, what, diff)
			}
			if err != nil || !bytes.Equal(got, before) {
				seen++
			}
			if again := rendered(t, files); !bytes.Equal(again, before) {
				t.Errorf("after %s %s, the tree from before renders to something else:\n%s", name, what, cmp.Diff(string(before), string(again)))
			}
		}
	}
	if seen < tried/3 {
		t.Errorf("only %d changes of %d made a difference", seen, tried)
	}
}

// changes are the trees that differ from files in what is at name, or beside it.
func changes(files fstest.MapFS, name string) map[string]fstest.MapFS {
	all := map[string]fstest.MapFS{}
	for _, what := range []string{"removed", "changed", "with a second kustomization beside it"} {
		all[what] = maps.Clone(files)
	}
	delete(all["removed"], name)
	old := files[name]
	content := []byte(strings.NewReplacer("shop", "shed", "blue", "teal", "pre-", "suf-", "worker", "walker", `"on"`, `"no"`).Replace(string(old.Data)))
	if old.Mode&fs.ModeSymlink != 0 {
		content = []byte("service.yaml")
	}
	all["changed"][name] = &fstest.MapFile{Data: content, Mode: old.Mode}
	withFile(all["with a second kustomization beside it"], path.Join(path.Dir(name), "Kustomization"), "resources: []\n")
	return all
}

func rendered(t *testing.T, files fs.FS) []byte {
	t.Helper()
	out, err := kustomize.Render(patient(t), files, overlay)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRenderIsNotShared changes what a render has returned.
func TestRenderIsNotShared(t *testing.T) {
	t.Parallel()
	files := withFile(fstest.MapFS{}, overlay+"/kustomization.yaml", "configMapGenerator: [{name: colours, literals: [a=b]}]\n")
	before := rendered(t, files)
	for range 3 { // the first is made, the others are remembered
		out := rendered(t, files)
		if !bytes.Equal(out, before) {
			t.Fatalf("it renders to\n%s\nwanted\n%s", out, before)
		}
		before = bytes.Clone(out)
		clear(out)
	}
}
