package kustomize_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"runtime"
	"strconv"
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
		{"copying patch", "patches:\n- target: {kind: Service}\n  patch: |\n" + strings.Repeat("    - {op: copy, from: /metadata, path: /metadata/a}\n", 40), "", "its patches and replacements copy values 40 times"},
		{"a few copies of much", "patches:\n- target: {kind: Service}\n  patch: |\n" + strings.Repeat("    - {op: copy, from: /metadata, path: /metadata/a}\n", 12), "a: [" + strings.Repeat("1,", 2000) + "]", "copy values 12 times, which may make more than 4194304 of its"},
		{"replacements by mappings", replacing(24, "spec.k%d", "spec.k%d.l", "spec.k%d.r"), chained, "its patches and replacements copy values 48 times"},
		{"replacements within a text", "replacements:\n" + strings.Repeat("- source: {kind: A, fieldPath: data.x}\n  targets: [{select: {kind: A}, fieldPaths: [data.x], options: {delimiter: '|', index: -1}}]\n", 34),
			"apiVersion: v1\nkind: A\nmetadata: {name: a}\ndata: {x: abcdefgh}\n", "its replacements within texts copy 34 times what others copy, which may make more than 33554432 bytes of its longest text, of 12"},
		{"replacements within a text by two paths", "replacements:\n" + strings.Repeat("- source: {kind: A, fieldPath: data.x.0}\n  targets: [{select: {kind: A}, fieldPaths: [data.x.*], options: {delimiter: '|', index: -1}}]\n", 34),
			"apiVersion: v1\nkind: A\nmetadata: {name: a}\ndata: {x: [abcdefgh]}\n", "within texts copy 34 times"},
		{"replacements by what a patch moves", "patches:\n- target: {kind: A}\n  patch: |-\n    - {op: move, from: /data/q, path: /data/x}\n" + replacing(24, "data.x", "data.x.k%d"),
			"apiVersion: v1\nkind: A\nmetadata: {name: a}\ndata: {q: {a: b}}\n", "copy values 24 times"},
		{"replacements by what a patch adds", "patches:\n- target: {kind: A}\n  patch: |-\n    - {op: add, path: /data/x, value: {a: b}}\n" + replacing(24, "data.x", "data.x.k%d"),
			"apiVersion: v1\nkind: A\nmetadata: {name: a}\ndata: {q: c}\n", "copy values 24 times"},
		{"replacements in another case", strings.NewReplacer("fieldPath:", "FIELDPATH:", "targets", "Targets", "fieldPaths", "fieldpaths", "source", "SOURCE").Replace(replacing(24, "data", "data.k%d")), inAnother, "copy values 24 times"},
		{"replacements with a key twice", strings.ReplaceAll(replacing(24, "data", "data.k%d"), "fieldPath: data", "fieldPath: metadata.name, fieldpath: data"), inAnother, "copy values 24 times"},
		{"replacements that are merged in", strings.ReplaceAll(replacing(24, "data", "data.k%d"), "source: {kind: A, fieldPath: data}", "source: {<<: {kind: A, fieldPath: data}}"), inAnother, "copy values 24 times"},
		{"replacements of all items", replacing(2, "spec.k%d", "spec.k%d.*"), chained, "its patches and replacements copy values 16 times"},
		{"copying transformer", "transformers:\n- |\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: x}\n  target: {kind: Service}\n  patch: |\n" + copying("    ", 26), "", "copy values 26 times"},
		{"copying JSON transformer", "transformers:\n- |\n  apiVersion: builtin\n  kind: PatchJson6902Transformer\n  metadata: {name: x}\n  target: {version: v1, kind: Service, name: a}\n  jsonOp: |\n" + copying("    ", 26), "", "copy values 26 times"},
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
		{"definitions that double", "crds: [service.yaml]\n", doubling(30), "comes to more than 2000 with all that it refers to"},
		{"a definition of itself", "crds: [service.yaml]\n", "Foo: {Schema: {properties: {a: {$ref: Bar}}}}\nBar: {Schema: {properties: {a: {$ref: '#/definitions/Foo'}}}}\n", "refers to itself: leave out what refers to it"},
		{"a tag of one's own", "", "a: !mine b", "has the tag !mine"},
		{"items created without an end", "replacements:\n- {source: {kind: A}, targets: [{select: {kind: A}, fieldPaths: ['a.[b=c+d].e'], options: {create: true}}]}\n", "", "creates what it does not find again"},
		{"items created without an end by a file", "replacements: [{path: service.yaml}]\n", "- {source: {kind: A}, targets: [{select: {kind: A}, fieldPaths: [\"a.[b=O'N: x].e\"], Options: {CREATE: yes}}]}\n", "creates what it does not find again"},
		{"long prefix", "namePrefix: " + strings.Repeat("a", 1<<20) + "\n", "", "namePrefix and nameSuffix have 1048576 bytes; Kubernetes takes no names over 253"},
		{"long suffix of a transformer", "transformers:\n- '{apiVersion: builtin, kind: SuffixTransformer, metadata: {name: x}, suffix: " + strings.Repeat("a", 1<<10) + "}'\n", "", "suffix has 1024 bytes; Kubernetes takes no names over 253"},
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
	t.Run("a transformer's patch in a file", func(t *testing.T) {
		files := tree(t, []byte("resources: [service.yaml]\ntransformers: [more]\n"))
		files[overlay+"/more/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: [patch.yaml]\n")}
		files[overlay+"/more/patch.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\ntarget: {kind: Service}\npath: copies.yaml\n")}
		files[overlay+"/copies.yaml"] = &fstest.MapFile{Data: []byte(copying("", 26))}
		expectRefusal(t, files, "copy values 26 times")
	})
	t.Run("folders used twice, again and again", func(t *testing.T) {
		expectRefusal(t, doubled(30), "come to more than 16000, counted in each folder that takes them over")
	})
}

// TestRenderBoundsWhatComesOut has one text in many objects, which share it until they are written.
func TestRenderBoundsWhatComesOut(t *testing.T) {
	files := tree(t, []byte("resources: [service.yaml]\ncommonAnnotations: {a: "+strings.Repeat("x", 3<<20)+"}\n"))
	files[overlay+"/service.yaml"] = &fstest.MapFile{Data: []byte(services(25))}
	if _, err := kustomize.Render(patient(t), files, overlay); err == nil || !strings.HasSuffix(err.Error(), "it comes to more than 67108864 bytes") {
		t.Errorf("got %.200v", err)
	}
}

// copying are operations of which each doubles what the ones before have made.
func copying(indent string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s- {op: copy, from: /metadata, path: /metadata/a%d}\n", indent, i)
	}
	return b.String()
}

const inAnother = "apiVersion: v1\nkind: A\nmetadata: {name: a}\ndata: {q: c}\n"

const chained = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nspec: {k0: {a: b, c: d}}\n"

// replacing are replacements of which each copies what the one before has made.
func replacing(n int, source string, targets ...string) string {
	var k strings.Builder
	k.WriteString("replacements:\n")
	for i := range n {
		var paths []string
		for _, t := range targets {
			paths = append(paths, fmt.Sprintf(t, i+1))
		}
		from := strings.ReplaceAll(source, "%d", strconv.Itoa(i))
		fmt.Fprintf(&k, "- source: {kind: A, fieldPath: "+from+"}\n  targets: [{select: {kind: A}, options: {create: true}, fieldPaths: [%s]}]\n", strings.Join(paths, ", "))
	}
	return k.String()
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

// doubling are definitions of which each refers to the next one twice.
func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "D%d: {Schema: {properties: {a: {$ref: D%d}, b: {$ref: D%d}}}}\n", i, i+1, i+1)
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
