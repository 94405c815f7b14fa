package kustomize_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// TestRead has fields that kustomize has replaced by others.
func TestRead(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{"web/kustomization.yml": {Data: []byte("resources: [service.yaml]\nbases: [../base]\nimageTags: [{name: web, newTag: v1}]\nnamePrefix: my-\n")}}
	k, err := kustomize.Read(tree, "web")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"service.yaml", "../base"}, k.Resources); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if len(k.Images) != 1 || k.Images[0].NewTag != "v1" || k.NamePrefix != "my-" {
		t.Errorf("images %+v, prefix %q", k.Images, k.NamePrefix)
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := fstest.MapFS{
		"unknown/kustomization.yaml": file("resource: [service.yaml]\n"),
		"list/kustomization.yaml":    file("[]\n"),
		"two/kustomization.yaml":     file("resources: []\n"),
		"two/Kustomization":          file("resources: []\n"),
		"none/service.yaml":          file("kind: Service\n"),
	}
	for dir, want := range map[string]string{
		"unknown": `reading unknown/kustomization.yaml: invalid Kustomization: json: unknown field "resource"`,
		"list":    "reading list/kustomization.yaml: invalid Kustomization: json: cannot unmarshal array into Go value of type types.Kustomization",
		"two":     "looking for the kustomization of two: found kustomization.yaml and Kustomization; kustomize wants exactly one, remove the others",
		"none":    "looking for the kustomization of none: file does not exist: expected kustomization.yaml, kustomization.yml, Kustomization; it has manifests without one: add kustomization.yaml with resources: [service.yaml]",
	} {
		if _, err := kustomize.Read(tree, dir); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", dir, err, want)
		}
	}
}

func TestAddedToNames(t *testing.T) {
	t.Parallel()
	if prefix, suffix, err := kustomize.AddedToNames([]byte("namePrefix: my-\nnameSuffix: -prod\n")); prefix != "my-" || suffix != "-prod" || err != nil {
		t.Errorf("prefix %q, suffix %q, %v", prefix, suffix, err)
	}
	if _, _, err := kustomize.AddedToNames([]byte("namePrefix: [my-]\n")); err == nil {
		t.Error("a list is taken for a prefix")
	}
}
