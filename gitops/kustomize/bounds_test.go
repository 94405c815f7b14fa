package kustomize_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// bomb is YAML whose aliases stand for 10^levels values.
func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range levels - 1 {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	return b.String()
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n" }

// doubled are folders that each use the next twice, under different name prefixes.
func doubled(levels int) fstest.MapFS {
	files := fstest.MapFS{}
	add := func(name, content string) { files[overlay+"/"+name] = &fstest.MapFile{Data: []byte(content)} }
	add("kustomization.yaml", "resources: [d0/a, d0/b]\n")
	for i := range levels {
		add(fmt.Sprintf("d%d/a/kustomization.yaml", i), fmt.Sprintf("namePrefix: a\nresources: [../../d%d/a, ../../d%d/b]\n", i+1, i+1))
		add(fmt.Sprintf("d%d/b/kustomization.yaml", i), fmt.Sprintf("namePrefix: b\nresources: [../../d%d/a, ../../d%d/b]\n", i+1, i+1))
	}
	for _, name := range []string{"a", "b"} {
		add(fmt.Sprintf("d%d/%s/kustomization.yaml", levels, name), "configMapGenerator: [{name: "+name+"}]\n")
	}
	return files
}

func TestRenderBounds(t *testing.T) {
	for _, c := range []struct {
		name          string
		kustomization string
		service       string // replaces service.yaml
		want          string
	}{
		{"alias bomb in a resource", "", bomb(9), "more than 500000 values with its aliases expanded"},
		{"alias bomb in the kustomization", "x: {}\n" + bomb(9), "", "more than 500000 values with its aliases expanded"},
		{"alias bomb in an inline patch", "patches:\n- patch: |\n" + indent(bomb(9)), "", "more than 500000 values with its aliases expanded"},
		{"alias bomb in a transformer", "transformers:\n- |\n" + indent("apiVersion: builtin\nkind: A\n"+bomb(9)), "", "more than 500000 values with its aliases expanded"},
		{"alias bomb in a transformer's patch", "transformers:\n- |\n" + indent("apiVersion: builtin\nkind: PatchTransformer\npatch: |\n"+indent(bomb(9))), "", "more than 500000 values with its aliases expanded"},
		{"several files below the limit each", "patches:\n" + strings.Repeat("- path: service.yaml\n", 5), bomb(5), "the overlay holds more than 500000 values"},
		{"anchor that contains itself", "", "a: &a [*a]\n", "has an anchor &a that contains itself"},
		{"merge cycle", "", "a: &a\n  b: &b\n    <<: *a\n", "has an anchor &a that contains itself"},
		{"flow nesting", "", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "deeper than 300 levels"},
		{"block nesting", "", strings.Repeat("- ", 20000) + "a", "exceeded max depth"},
		{"nesting by aliases", "", deepAliases(200), "deeper than 300 levels"},
		{"large file", "", strings.Repeat("#", 9<<20), "has 9437184 bytes; at most 8388608 are rendered"},
		{"many values", "", "a: [" + strings.Repeat("1,", 2_000_000) + "]", "holds too many values; at most 500000 are rendered"},
		{"many documents", "", strings.Repeat("---\na: b\n", 4_000), "holds more than 4000 objects, patches and entries that change them: split it"},
		{"many items", "", list("items", 4_000), "holds more than 4000 objects"},
		{"many items by a merge key", "", "x: &x\n" + indent(list("items", 2_000)) + "y: &y\n" + indent(list("items", 2_000)) + "<<: [*x, *y]\n", "holds more than 4000 objects"},
		{"many items of an alias", "", "x: &x\n" + indent(list("y", 4_000)) + "kind: List\nitems: [<<: *x, " + strings.Repeat("{}, ", 4_000) + "]\n", "holds more than 4000 objects"},
		{"many generated", "configMapGenerator:\n" + each(2_000, "- name: a%d\n") + "secretGenerator:\n" + each(2_000, "- name: a%d\n"), "", "holds more than 4000 objects"},
		{"many images", "images:\n" + each(4_000, "- {name: a%d, newTag: b}\n"), "", "holds more than 4000 objects"},
		{"many labels", "labels:\n- pairs:\n" + each(4_000, "    a%d: b\n"), "", "holds more than 4000 objects"},
		{"many operations", "patches:\n- target: {kind: Service}\n  patch: |\n" + strings.Repeat("    - {op: test, path: /kind, value: Service}\n", 4_000), "", "holds more than 4000 objects, patches and entries that change them"},
		{"many operations of a transformer", "transformers:\n- |\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: x}\n  target: {kind: Service}\n  patch: |\n" + strings.Repeat("    - {op: test, path: /kind, value: Service}\n", 4_000), "", "holds more than 4000 objects"},
		{"many operations in a file", "patches: [{path: service.yaml, target: {kind: Service}}]\n", strings.Repeat("- {op: test, path: /kind, value: Service}\n", 4_000), "holds more than 4000 objects"},
		{"many replacements in a file", "replacements: [{path: service.yaml}]\n", strings.Repeat("- {source: {kind: A}, targets: [{select: {kind: A}, fieldPaths: [a]}]}\n", 4_000), "holds more than 4000 objects"},
		{"many replaced fields in a file", "replacements: [{path: service.yaml}]\n", "- {source: {kind: A}, targets: [{select: {kind: A}, fieldPaths: [" + strings.Repeat("a,", 4_000) + "]}]}\n", "holds more than 4000 objects"},
		{"many replaced fields by merge keys", "replacements: [{path: service.yaml}]\n", "- &x {source: {kind: A}, targets: [{select: {kind: A}, fieldPaths: [" + strings.Repeat("a,", 1_000) + "]}]}\n" + strings.Repeat("- {<<: *x}\n", 4), "holds more than 4000 objects"},
		{"many replaced fields", "replacements:\n- {source: {kind: A}, targets: [{select: {kind: A}, fieldPaths: [" + strings.Repeat("a,", 4_000) + "]}]}\n", "", "holds more than 4000 objects"},
		{"many replacements of a transformer", "transformers:\n- |\n  apiVersion: builtin\n  kind: ReplacementTransformer\n  metadata: {name: x}\n  replacements:\n" + strings.Repeat("  - {source: {kind: A}, targets: [{select: {kind: A}, fieldPaths: [a]}]}\n", 4_000), "", "holds more than 4000 objects"},
		{"operations by objects", "patches:\n- target: {kind: A}\n  patch: |\n" + strings.Repeat("    - {op: test, path: /kind, value: A}\n", 1_100), services(1_000), "its operations and replacements come to more than 1000000 changes, each counted for every object"},
		{"many rejects", "replacements:\n- {source: {kind: A}, targets: [{select: {kind: A}, fieldPaths: [a], reject: [" + strings.Repeat("{name: a.b},", 4_000) + "]}]}\n", "", "holds more than 4000 objects"},
		{"many rejects in a file", "replacements: [{path: service.yaml}]\n", "- {source: {kind: A}, targets: [{select: {kind: A}, fieldPaths: [a], reject: [" + strings.Repeat("{name: a.b},", 4_000) + "]}]}\n", "holds more than 4000 objects"},
		{"values by images", "images:\n" + each(200, "- {name: a%d, newTag: b}\n"), "a: [" + strings.Repeat("1,", 30_000) + "]", "come to more than 4000000 looks, each value counted for every entry"},
		{"values by transformers of images", "transformers:\n" + each(200, "- '{apiVersion: builtin, kind: ImageTagTransformer, metadata: {name: x%d}, imageTag: {name: a, newTag: b}}'\n"), "a: [" + strings.Repeat("1,", 30_000) + "]", "come to more than 4000000 looks"},
		{"a copy in base64", "patches:\n- target: {kind: Service}\n  patch: |\n" + strings.Repeat("    - {op: !!binary Y29weQ==, from: /metadata, path: /metadata/a}\n", 40), "", "line 1 has the tag !!binary, by which kustomize reads another value than is written: write that value"},
		{"an address in base64", "transformers:\n- |\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: x}\n  path: !!binary aHR0cDovLzEyNy4wLjAuMTox\n", "", "has the tag !!binary"},
		{"an address in a list of plugins", "transformers:\n- |\n  apiVersion: builtin\n  kind: List\n  metadata: {name: x}\n  items: [{apiVersion: builtin, kind: PatchTransformer, metadata: {name: x}, path: 'http://127.0.0.1:1/a'}]\n", "", "path: \"http://127.0.0.1:1/a\" "},
		{"an address that is a mapping", "patchesStrategicMerge: ['http://127.0.0.1:1/p.yaml#a: b']\n", "", "is remote; only files of this repository are rendered"},
		{"a path that is a mapping", "patchesStrategicMerge: ['a: b']\n", "", "file does not exist"},
		{"a kind in two cases", "", "KIND: x\nkind: Service\nmetadata: {name: a}", "line 1 has the key kind twice but for its case"},
		{"a document that ends for kustomize alone", "", "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---#: x\napiVersion: v1\n", "at which kustomize may divide documents otherwise than YAML does: write --- alone in its line"},
		{"a document beside its beginning", "", "--- {apiVersion: v1, kind: A, metadata: {name: a}}\n", "at which kustomize may divide documents otherwise"},
		{"an odd break of lines", "", "apiVersion: v1\nkind: A # \u2028  x: y\nmetadata: {name: a}\n", "end lines with a line feed"},
		{"aliases of a text", "", "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 40) + "]\n", "holds more than 33554432 bytes with its aliases expanded"},
		{"an alias for a key", "", "x: &k value\n*k : b\n", "line 2 has an alias for a key: write the key"},
		{"a merge behind a key that it has", "", "a: {op: add, value: b, <<: {value: c}}", "line 1 merges in value behind another one, of which kustomize lets this hold here and that there: write << first"},
		{"a merge of what merges itself", "", "a: {b: c, <<: &d {e: f, <<: *d}}", "has an anchor &d that contains itself"},
		{"two merges", "", "a: {<<: {b: c}, <<: {d: e}}", "line 1 merges in << behind another one"},
		{"a tag of one's own", "", "a: !mine b", "has the tag !mine"},
		{"invalid image pattern", "images: [{name: '(', newTag: v1}]\n", "", "kustomize failed on this input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := tree(t, []byte("resources: [service.yaml]\n"+c.kustomization))
			if c.service != "" {
				files[overlay+"/service.yaml"] = &fstest.MapFile{Data: []byte(c.service)}
			}
			expectRefusal(t, files, c.want)
		})
	}
	t.Run("folders used twice, again and again", func(t *testing.T) {
		expectRefusal(t, doubled(30), "come to more than 16000, counted in each folder that takes them over")
	})
}

// TestRenderBoundsWhatComesOut has one text in many objects, which share it until they are written.
func TestRenderBoundsWhatComesOut(t *testing.T) {
	files := tree(t, []byte("resources: [service.yaml]\ncommonAnnotations: {a: "+strings.Repeat("x", 3<<20)+"}\n"))
	files[overlay+"/service.yaml"] = &fstest.MapFile{Data: []byte(services(12))}
	if _, err := kustomize.Render(patient(t), files, overlay); err == nil || !strings.HasSuffix(err.Error(), "it comes to more than 33554432 bytes") {
		t.Errorf("got %.200v", err)
	}
}

// TestRenderTakesReplacements has honest overlays with replacements, and much beside them.
func TestRenderTakesReplacements(t *testing.T) {
	for name, more := range map[string]string{
		"a custom resource's schema": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.e.com}\nspec: {properties: {name: {type: string}" + fields(600) + "}}\n",
		"ports of Ingresses":         services(300),
	} {
		files := tree(t, []byte("resources: [service.yaml]\nreplacements:\n"+
			"- source: {kind: Own, fieldPath: metadata.name}\n  targets: [{select: {kind: Own}, fieldPaths: ['spec.list.[name=a].value', 'spec.list.[name=b].value']}]\n"+
			"- source: {kind: Own, fieldPath: data.port}\n  targets: [{select: {kind: Own}, fieldPaths: ['spec.list.[name=a].port']}]\n"+
			"- source: {kind: Own, fieldPath: spec.list.0.image}\n  targets: [{select: {kind: Own}, fieldPaths: ['metadata.annotations.image'], options: {create: true}}]\n"+
			"- source: {kind: Own, fieldPath: data.tag}\n  targets: [{select: {kind: Own}, fieldPaths: ['spec.list.[name=b].image', 'spec.list.[name=c].image'], options: {delimiter: ':', index: 1}}]\n"))
		own := "apiVersion: v1\nkind: Own\nmetadata: {name: own}\ndata: {port: '80', tag: v2}\nspec: {list: [{name: a, value: x, port: y, image: 'i:v1'}, {name: b, value: x, image: 'j:v0'}, {name: c, image: 'k:v0'}]}\n---\n"
		files[overlay+"/service.yaml"] = &fstest.MapFile{Data: []byte(own + more)}
		if _, err := kustomize.Render(patient(t), files, overlay); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func services(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "apiVersion: v1\nkind: A\nmetadata: {name: a%d}\nspec: {service: {name: s, port: {number: 80}}}\n---\n", i)
	}
	return b.String()
}

func fields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ", f%d: {type: string}", i)
	}
	return b.String()
}

// list is a List with so many objects below a key.
func list(key string, n int) string {
	return "apiVersion: v1\nkind: List\n" + key + ":\n" + each(n, "- {apiVersion: v1, kind: A, metadata: {name: a%d}}\n")
}

// each is a text for so many numbers.
func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// BenchmarkManySources has as many replacements within texts as an overlay may, each of another field.
func BenchmarkManySources(b *testing.B) {
	files := tree(b, []byte("resources: [service.yaml]\nreplacements:\n"+each(1_900, "- {source: {kind: A, fieldPath: data.x%[1]d}, targets: [{select: {kind: A}, fieldPaths: [data.y%[1]d], options: {delimiter: a}}]}\n")))
	for b.Loop() {
		_, _ = kustomize.Differences(b.Context(), files, overlay)
		_, _ = kustomize.Render(patient(b), files, overlay)
	}
}

func deepAliases(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [[x]]\n")
	for i := range levels {
		fmt.Fprintf(&b, "a%d: &a%d [[*a%d]]\n", i+1, i+1, i)
	}
	return b.String()
}

// expectRefusal also expects that little memory was needed for it.
func expectRefusal(t *testing.T, files fs.FS, want string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := kustomize.Render(patient(t), files, overlay)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 256 {
		t.Errorf("allocated %d MiB", allocated)
	}
}

func TestSetImageBounds(t *testing.T) {
	t.Parallel()
	src := []byte("resources: [service.yaml]\n" + bomb(9))
	if _, err := kustomize.SetImage(src, kustomize.Image{Name: "app", NewTag: "v1"}); err == nil || !strings.Contains(err.Error(), "500000") {
		t.Errorf("got %v", err)
	}
	if out, err := kustomize.AddPatch(bytes.Repeat([]byte("- "), 20000), "a.yaml", kustomize.Target{}); err == nil {
		t.Errorf("got %d bytes", len(out))
	}
}
