package kustomize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// TestRoom has overlays that render: those that take more than half of what is bounded leave no room for as much again.
func TestRoom(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: many}\ndata:\n"
	objects := func(n int) string { return each(n, head[:len(head)-len("many}\ndata:\n")]+"a%d}\n---\n") }
	deep := map[string]string{}
	for i := range 10 {
		deep[fmt.Sprintf("l%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../l%d]\n", i+1)
	}
	deep["l10/kustomization.yaml"], deep["l10/many.yaml"] = "resources: [many.yaml]\n", objects(800)
	for name, c := range map[string]struct {
		kustomization string
		files         map[string]string
		want          string // empty: there is room
	}{
		"little":               {"resources: [many.yaml]\n", map[string]string{"many.yaml": objects(500)}, ""},
		"objects":              {"resources: [many.yaml]\n", map[string]string{"many.yaml": objects(2_100)}, "it has 2102 objects, patches and entries that change them; at most 2000 are let pass, half of what a run renders"},
		"operations":           {"resources: [many.yaml]\npatches: [{path: ops.yaml, target: {kind: ConfigMap}}]\n", map[string]string{"many.yaml": objects(10), "ops.yaml": strings.Repeat("- {op: test, path: /kind, value: ConfigMap}\n", 2_100)}, "objects, patches and entries that change them; at most 2000"},
		"changes":              {"resources: [many.yaml]\npatches: [{path: ops.yaml, target: {kind: Secret}}]\n", map[string]string{"many.yaml": objects(1_000), "ops.yaml": strings.Repeat("- {op: test, path: /kind, value: ConfigMap}\n", 600)}, "changes by operations and replacements, each counted for every object; at most 500000"},
		"objects through many": {"resources: [l0]\n", deep, "objects, counted in each folder that takes them over; at most 8000"},
		"values":               {"resources: [many.yaml]\n", map[string]string{"many.yaml": each(260, head[:len(head)-len("many}\ndata:\n")]+"a%d}\ndata:\n"+strings.ReplaceAll(each(500, "  a%d: b\n"), "%", "%%")+"---\n")}, "values; at most 250000"},
		"looks":                {"resources: [many.yaml]\nimages:\n" + each(30, "- {name: a%d, newTag: v1}\n"), map[string]string{"many.yaml": "apiVersion: acme.example/v1\nkind: Table\nmetadata: {name: table}\nrows:\n" + each(70_000, "- r%d\n")}, "values, each counted for every entry of images; at most 2000000"},
		"nesting":              {"resources: [many.yaml]\n", map[string]string{"many.yaml": head[:len(head)-len("data:\n")] + "spec: " + strings.Repeat("[", 160) + "a" + strings.Repeat("]", 160)}, "levels of nesting in one document; at most 150"},
		"indicators":           {"resources: [many.yaml]\n", map[string]string{"many.yaml": head + "  a: b # " + strings.Repeat(",", 600_000) + "\n"}, "characters in one file that may begin a value; at most 500000"},
		"a large file":         {"configMapGenerator:\n- {name: a, files: [large]}\n", map[string]string{"large": strings.Repeat("x", 5<<20)}, "it has 5242880 bytes in one file; at most 4194304"},
		"files":                {"configMapGenerator:\n- name: a\n  files:\n" + each(2_100, "  - a%d=small\n"), map[string]string{"small": "x"}, "files, each counted as often as it is read; at most 2000"},
	} {
		files := tree(t, []byte(c.kustomization))
		for file, content := range c.files {
			withFile(files, overlay+"/"+file, content)
		}
		if _, err := kustomize.Render(patient(t), files, overlay); err != nil {
			t.Errorf("%s: %.300v", name, err)
			continue
		}
		switch err := kustomize.Room(patient(t), files, overlay); {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
