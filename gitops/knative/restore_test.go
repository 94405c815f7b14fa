package knative

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// Two Services share an overlay. Rolling one back leaves what happened to the
// other one's image since.
func TestRestoreImagesLeavesTheOthers(t *testing.T) {
	t.Parallel()
	service := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: " + name + "}\nspec: {template: {spec: {containers: [{image: example.test/" + name + "}]}}}\n")}
	}
	tree := fstest.MapFS{
		"app/a.yaml": service("a"), "app/b.yaml": service("b"),
		"app/kustomization.yaml": {Data: []byte("resources: [a.yaml, b.yaml]\nimages:\n- name: example.test/a\n  newTag: v1\n- name: example.test/b\n  newTag: v1\n")},
	}
	base, err := Read(t.Context(), tree, "app", "a")
	if err != nil {
		t.Fatal(err)
	}
	now, err := base.SetImages(t.Context(), []kustomize.Image{{Name: "example.test/a", NewTag: "v2"}, {Name: "example.test/b", NewTag: "v9"}})
	if err != nil {
		t.Fatal(err)
	}
	back, err := now.RestoreImages(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fs.ReadFile(filesOf(back, nil), "app/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(tree["app/kustomization.yaml"].Data), "example.test/b\n  newTag: v1", "example.test/b\n  newTag: v9", 1)
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
