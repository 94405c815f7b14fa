package kustomize_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// TestSetImage compares the bytes with the corpus, and the render with that of the real command's edit.
func TestSetImage(t *testing.T) {
	t.Parallel()
	for _, base := range setCases(t) {
		for _, c := range base.variants() {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				got, err := kustomize.SetImage(c.src, images(t, c.args)...)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(c.want), string(got)); diff != "" {
					t.Errorf("bytes (-want +got):\n%s", diff)
				}
				again, err := kustomize.SetImage(got, images(t, c.args)...)
				if err != nil || string(again) != string(got) {
					t.Errorf("a second time: %v\n%s", err, again)
				}
				compareWithCommand(t, c, got)
			})
		}
	}
}

// compareWithCommand lets the real command edit and build the case, and expects the render of got.
func compareWithCommand(t *testing.T, c setCase, got []byte) {
	t.Helper()
	dir := onDisk(t, tree(t, c.src))
	if _, err := run(t, dir, append([]string{"edit", "set", "image"}, c.args...)...); err != nil {
		t.Fatal(err)
	}
	edited, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := kustomize.Render(patient(t), tree(t, edited), overlay)
	if err != nil {
		t.Fatal(err)
	}
	render, err := kustomize.Render(patient(t), tree(t, got), overlay)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(render)); diff != "" {
		t.Errorf("render (-kustomize edit +ours):\n%s", diff)
	}
}

func TestRestoreImages(t *testing.T) {
	t.Parallel()
	merged := map[string]bool{"duplicates": true, "flow-duplicates": true, "null-key": true, "null-word": true, "comment-between": true}
	for _, base := range setCases(t) {
		if merged[base.name] {
			continue
		}
		for _, c := range base.variants() {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				var names []string
				for _, i := range images(t, c.args) {
					names = append(names, i.Name)
				}
				got, err := kustomize.RestoreImages(c.want, c.src, names...)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(c.src), string(got)); diff != "" {
					t.Errorf("bytes (-want +got):\n%s", diff)
				}
			})
		}
	}
}
