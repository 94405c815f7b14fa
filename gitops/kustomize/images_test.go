package kustomize_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// every has the real command build and edit everything, which takes a process each.
var every = flag.Bool("every", false, "compare every form, tree and change of the corpus with what the real command makes of it, and a tree of 500 resources, not one form of each file, every third tree, change and fuzz corpus entry, and 150 resources, and render all that takes too much memory, not some of it")

// TestSetImage compares the bytes with the corpus, and the render with that of the real command's edit.
func TestSetImage(t *testing.T) {
	t.Parallel()
	for n, base := range setCases(t) {
		forms := base.variants()
		for i, c := range forms {
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
				if *every || i == n%len(forms) {
					compareWithCommand(t, c, got)
				}
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

// TestSetImageByNewName asks for an image by the name that an entry gives it. A second entry would be undone by the next
// `kustomize edit set image` of any image, which sorts the list.
func TestSetImageByNewName(t *testing.T) {
	t.Parallel()
	const list = "images:\n- name: shop\n  newName: registry.example.com/team/shop\n  newTag: v1\n"
	for _, c := range []struct{ name, src, arg, want, err string }{
		{"tag", list, "registry.example.com/team/shop:v2", strings.Replace(list, "v1", "v2", 1), ""},
		{"digest", list, "registry.example.com/team/shop@" + digest, strings.Replace(list, "newTag: v1", "digest: "+digest, 1), ""},
		{"another new name", list, "registry.example.com/team/shop=ghcr.io/acme/shop:v2",
			"images:\n- name: shop\n  newName: ghcr.io/acme/shop\n  newTag: v2\n", ""},
		{"an entry of the name itself", list + "- name: registry.example.com/team/shop\n  newTag: v1\n", "registry.example.com/team/shop:v2",
			list + "- name: registry.example.com/team/shop\n  newTag: v2\n", ""},
		{"several", list + "- name: cart\n  newName: registry.example.com/team/shop\n", "registry.example.com/team/shop:v2", "",
			"setting image registry.example.com/team/shop: the entries shop, cart have it as their newName; name the one to set, " +
				"as in shop=registry.example.com/team/shop:TAG"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []byte
			image, err := kustomize.InEntry([]byte(c.src), images(t, []string{c.arg})[0])
			if err == nil {
				got, err = kustomize.SetImage([]byte(c.src), image)
			}
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("got %v, want %s", err, c.err)
				}
				return
			}
			if diff := cmp.Diff(c.want, string(got)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
