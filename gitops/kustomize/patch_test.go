package kustomize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/kustomize"
)

var ksvc = kustomize.Target{Group: "serving.knative.dev", Version: "v1", Kind: "Service", Name: "shop"}

func TestAddPatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, src string
		target    kustomize.Target
		want      string
	}{
		{"at the end of the list", "patches:\n  - path: a.yaml # a\n\n# images\nimages: []\n", kustomize.Target{},
			"patches:\n  - path: a.yaml # a\n  - path: new.yaml\n\n# images\nimages: []\n"},
		{"with a target", "patches:\n- path: a.yaml\nimages: []\n", ksvc,
			"patches:\n- path: a.yaml\n- path: new.yaml\n  target:\n    group: serving.knative.dev\n    version: v1\n    kind: Service\n    name: shop\nimages: []\n"},
		{"after a patch in the list", "patches:\n  - patch: |\n      - op: remove\n        path: /a\n\n      # end\n\n  # none\nimages: []\n", kustomize.Target{},
			"patches:\n  - patch: |\n      - op: remove\n        path: /a\n\n      # end\n  - path: new.yaml\n\n  # none\nimages: []\n"},
		{"after a patch that keeps its blank lines", "patches:\n  - patch: |+\n      - op: remove\n        path: /a\n\nimages: []\n", kustomize.Target{},
			"patches:\n  - patch: |+\n      - op: remove\n        path: /a\n\n  - path: new.yaml\nimages: []\n"},
		{"without the key", "resources:\n  - a.yaml\n", ksvc,
			"resources:\n  - a.yaml\npatches:\n  - path: new.yaml\n    target:\n      group: serving.knative.dev\n      version: v1\n      kind: Service\n      name: shop\n"},
		{"without the key and a final newline", "resources: []\r\nnamespace: a", kustomize.Target{},
			"resources: []\r\nnamespace: a\r\npatches:\r\n- path: new.yaml"},
		{"in a flow list", "patches: [path: a.yaml]\n", ksvc,
			"patches: [path: a.yaml, {path: new.yaml, target: {group: serving.knative.dev, version: v1, kind: Service, name: shop}}]\n"},
		{"in an empty list", "patches: [] # none\n", kustomize.Target{}, "patches: [{path: new.yaml}] # none\n"},
		{"in a null list", "patches: # none\nnamespace: a\n", kustomize.Target{}, "patches: # none\n- path: new.yaml\nnamespace: a\n"},
		{"listed", "patches:\n- path: new.yaml\n- path: a.yaml\n", kustomize.Target{}, "patches:\n- path: new.yaml\n- path: a.yaml\n"},
		{"listed in another spelling", "patches:\n- path: ./new.yaml\n", kustomize.Target{}, "patches:\n- path: ./new.yaml\n"},
		{"listed with the target", "patches: [{path: new.yaml, target: {group: serving.knative.dev, version: v1, kind: Service, name: shop}}]\n", ksvc,
			"patches: [{path: new.yaml, target: {group: serving.knative.dev, version: v1, kind: Service, name: shop}}]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := kustomize.AddPatch([]byte(c.src), "new.yaml", c.target)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("bytes (-want +got):\n%s", diff)
			}
			again, err := kustomize.AddPatch(got, "new.yaml", c.target)
			if err != nil || string(again) != string(got) {
				t.Errorf("a second time: %v\n%s", err, again)
			}
		})
	}
}

func TestRemovePatches(t *testing.T) {
	t.Parallel()
	got, err := kustomize.RemovePatch([]byte("patches:\n- path: old.yaml\n- path: a.yaml\n- path: older.yaml\n"), "older.yaml", "old.yaml", "none.yaml")
	if want := "patches:\n- path: a.yaml\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestRemovePatch(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"patches:\n- path: old.yaml\n- path: a.yaml\n":                                    "patches:\n- path: a.yaml\n",
		"patches:\n- path: a.yaml\n# old\n- path: old.yaml # old\n  options: {}\n# end\n": "patches:\n- path: a.yaml\n# old\n# end\n",
		"patches:\n- path: old.yaml\nimages: []\n":                                        "images: []\n",
		"images: []\npatches: # ours\n# a comment\n- path: old.yaml":                      "images: []\n# a comment",
		"patches: [{path: old.yaml}]\n":                                                   "patches: []\n",
		"patches: [{path: old.yaml}, {path: a.yaml}]\n":                                   "patches: [{path: a.yaml}]\n",
		"patches: [{path: a.yaml}, {path: ./old.yaml}]\n":                                 "patches: [{path: a.yaml}]\n",
		"patches:\n- path: old.yaml\n- path: a.yaml\n- {path: old.yaml}\nnamespace: a\n":  "patches:\n- path: a.yaml\nnamespace: a\n",
		"patches:\n- path: a.yaml\n":                                                      "patches:\n- path: a.yaml\n",
		"namespace: a\n":                                                                  "namespace: a\n",
		"patches:\n-\n  path: old.yaml\n-\n  path: a.yaml\n":                              "patches:\n-\n  path: a.yaml\n",
	} {
		got, err := kustomize.RemovePatch([]byte(src), "old.yaml")
		if err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v, want %q", src, got, err, want)
		}
	}
}

// TestEditErrors shows the errors of every edit that is refused.
func TestEditErrors(t *testing.T) {
	t.Parallel()
	const broken = "the edit would change more than the entry (an anchor, or a block without a final newline?); edit the file by hand once"
	for src, want := range map[string]string{
		"":                                      "the kustomization is empty; expected a mapping with the key resources",
		"# nothing\n":                           "the kustomization is empty; expected a mapping with the key resources",
		"- a\n":                                 "the kustomization is a list; expected a mapping with the key resources",
		"a\n":                                   "the kustomization is a single value; expected a mapping with the key resources",
		"~\n":                                   "the kustomization is empty; expected a mapping with the key resources",
		"a: b\n---\nc: d\n":                     "the kustomization holds more than one YAML document; kustomize reads only the first, remove the others",
		"resources: [\n":                        "the kustomization cannot be read: yaml: line 1: did not find expected node content",
		"resourcess: []\n":                      `the kustomization is not valid: invalid Kustomization: json: unknown field "resourcess"`,
		"namespace: \xff\n":                     "the kustomization is not UTF-8 text; save it as UTF-8",
		"{namespace: a}\n":                      "the kustomization is written in flow style {…}; write it as a block, one key a line",
		"Images: []\n":                          `line 1: key "Images" should be written "images"`,
		"images: {}\n":                          "the kustomization is not valid: invalid Kustomization: json: cannot unmarshal object into Go struct field Kustomization.images of type []types.Image",
		"images: &a []\n":                       "line 1: images carries the anchor &a; write the list out",
		"images: !!seq []\n":                    "line 1: images carries the tag !!seq; write the list out",
		"imageTags: [{name: app}]\n":            "imageTags: lists it too; move the entry to images: (kustomize edit fix does that)",
		"images: [{name: app, newTag: 1.10}]\n": "the kustomization is not valid: images.newTag is a number, not a string; put it in quotes",
		"images: [{name: app, newTag: &a v1}]\nnamespace: *a\n": "newTag: line 1: the value carries the anchor &a; write the value itself there",
		"namespace: &a v1\nimages: [{name: app, newTag: *a}]\n": "newTag: line 2: the value is the alias *a; write the value itself there",
		"images: [{name: app, newTag: !!str 1}]\n":              "newTag: line 1: the value carries the tag !!str; write the value itself there",
		"images:\n- name: app\n  newTag: |-\n    v1\n":          "newTag: line 3: the value is a block scalar; write the value itself there",
		"images:\n- name: app\n  newTag:\n    'v\n    1'\n":     "", // replaced whole
		"images:\n- name: app\n  newTag: v\n    1\n":            "newTag: line 3: the value goes over several lines; write it on one line",
		"images:\n- &a\n  name: app\n- *a\n":                    "line 4: an entry of images is an alias; write it out as a mapping with the key name",
		"images:\n- &a {name: app}\n":                           "line 2: the entry carries the anchor &a; write it out",
		"images:\n- newtag: v1\n  name: app\n":                  `line 2: key "newtag" should be written "newTag"`,
		"images:\n- {<<: {newTag: v1}, name: app}\n":            "line 2: the merge key << brings in values from elsewhere; write them out",
		"resources: []\npatches:\n- patch: |\n    a":            broken,
	} {
		_, err := kustomize.SetImage([]byte(src), kustomize.Image{Name: "app", NewTag: "v2"})
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && got != "setting image app: "+want {
			t.Errorf("%q: got\n%s, want\n%s", src, got, want)
		}
	}
}

func TestEditImageErrors(t *testing.T) {
	t.Parallel()
	src := []byte("resources: []\n")
	for image, want := range map[kustomize.Image]string{
		{Name: "app", NewTag: "1.0\n    securityContext"}: `setting image app: tag "1.0\n    securityContext": expected`,
		{Name: "", NewTag: "v1"}:                          `setting image : name ""`,
		{Name: "app", NewName: "b c"}:                     `setting image app: name "b c": expected`,
		{Name: "app", Digest: "v1"}:                       `setting image app: digest "v1": expected`,
	} {
		if _, err := kustomize.SetImage(src, image); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := kustomize.RestoreImages(src, []byte("- a"), "app"); err == nil ||
		err.Error() != "reading the kustomization to restore from: the kustomization is a list; expected a mapping with the key resources" {
		t.Errorf("got %v", err)
	}
	listed := "patches: [{path: a.yaml, options: {allowNameChange: true}}]\n"
	if _, err := kustomize.AddPatch([]byte(listed), "a.yaml", kustomize.Target{}); err == nil ||
		err.Error() != "adding patch a.yaml: patches: lists it with another target or with options; remove that entry" {
		t.Errorf("got %v", err)
	}
}

// TestPatchRoundTrip adds a patch to every kustomization of the corpus and takes it out again.
func TestPatchRoundTrip(t *testing.T) {
	t.Parallel()
	for _, base := range setCases(t) {
		for _, c := range base.variants() {
			for _, target := range []kustomize.Target{{}, ksvc} {
				added, err := kustomize.AddPatch(c.src, "knative-promote-shop.yaml", target)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				got, err := kustomize.RemovePatch(added, "knative-promote-shop.yaml")
				if err != nil || string(got) != string(c.src) {
					t.Errorf("%s: %v (-want +got):\n%s", c.name, err, cmp.Diff(string(c.src), string(got)))
				}
			}
		}
	}
}
