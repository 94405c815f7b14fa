package kustomize_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/apart"
)

// serving is the argument of the process that renders for the tests of this package.
const serving = "work-apart"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == serving {
		apart.Serve(os.Stdin, os.Stdout, 256<<20, os.Exit, kustomize.Apart)
		return
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	apart.By(self, serving)
	os.Exit(m.Run())
}

// TestRenderEndsWithinMemory has overlays by which kustomize takes memory without an end.
func TestRenderEndsWithinMemory(t *testing.T) {
	const memory = "kustomize ended on this input: it takes more than 256 MiB of memory"
	seldom := []string{"replacements by mappings", "replacements within a text", "a long prefix of many names"}
	for name, c := range map[string]struct{ kustomization, service, want string }{
		"a patch that copies":                  {"patches:\n- target: {kind: Service}\n  patch: |\n" + copying("    ", 40), "", memory},
		"replacements by mappings":             {replacing(24, "spec.k%d", "spec.k%d.l", "spec.k%d.r"), "apiVersion: v1\nkind: A\nmetadata: {name: a}\nspec: {k0: {a: b, c: d}}\n", memory},
		"replacements within a text":           {"replacements:\n" + strings.Repeat("- source: {kind: A, fieldPath: data.x}\n  targets: [{select: {kind: A}, fieldPaths: [data.x], options: {delimiter: '|', index: -1}}]\n", 34), "apiVersion: v1\nkind: A\nmetadata: {name: a}\ndata: {x: abcdefgh}\n", memory},
		"one long text in many objects":        {"replacements:\n- source: {kind: B, fieldPath: data.x}\n  targets: [{select: {kind: A}, fieldPaths: [data.x], options: {create: true, delimiter: '|', index: 1}}]\n", services(1_000) + "---\napiVersion: v1\nkind: B\nmetadata: {name: b}\ndata: {x: " + strings.Repeat("x", 1<<20) + "}\n", memory},
		"a variable of a long text":            {"vars: [{name: LONG, objref: {apiVersion: v1, kind: ConfigMap, name: b}, fieldref: {fieldpath: data.x}}]\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {x: " + strings.Repeat("x", 1<<20) + "}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: a, args: ['" + strings.Repeat("$(LONG)", 2_000) + "']}]}}}\n", memory},
		"a long prefix of many names":          {"namePrefix: " + strings.Repeat("a", 1<<20) + "\n", services(1_000), memory},
		"definitions that refer to themselves": {"crds: [crd.yaml]\n", "", "kustomize ended on this input: runtime: goroutine stack exceeds 268435456-byte limit"},
	} {
		if slices.Contains(seldom, name) && !*every {
			continue
		}
		t.Run(name, func(t *testing.T) {
			files := tree(t, []byte("resources: [service.yaml]\n"+c.kustomization))
			withFile(files, overlay+"/crd.yaml", "Foo: {Schema: {properties: {"+ofObject+"a: {$ref: Bar}}}}\nBar: {Schema: {properties: {a: {$ref: Foo}}}}\n")
			if c.service != "" {
				withFile(files, overlay+"/service.yaml", c.service)
			}
			expectRefusal(t, files, c.want)
			rendersStill(t)
		})
	}
}

// ofObject are the properties by which kustomize takes a definition for one of an object.
const ofObject = "kind: {type: string}, apiVersion: {type: string}, metadata: {type: object}, "

// TestRenderEndsWithinTime has overlays by which kustomize goes on without an end, or for years.
func TestRenderEndsWithinTime(t *testing.T) {
	var doubling strings.Builder
	for i := range 60 {
		fmt.Fprintf(&doubling, "D%d: {Schema: {properties: {"+ofObject+"a: {$ref: D%d}, b: {$ref: D%d}}}}\n", i, i+1, i+1)
	}
	for name, kustomization := range map[string]string{
		"definitions that double":      "crds: [crd.yaml]\n",
		"items created without an end": "replacements:\n- {source: {kind: Service}, targets: [{select: {kind: Service}, fieldPaths: ['a.[b=c+d].e'], options: {create: true}}]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			files := tree(t, []byte("resources: [service.yaml]\n"+kustomization))
			withFile(files, overlay+"/crd.yaml", doubling.String())
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := kustomize.Render(ctx, files, overlay); err == nil || !strings.HasSuffix(err.Error(), "not ready in time: context deadline exceeded") {
				t.Errorf("got %v", err)
			}
			rendersStill(t)
		})
	}
}

// rendersStill renders what was never rendered before.
func rendersStill(t *testing.T) {
	t.Helper()
	files := tree(t, []byte("resources: [service.yaml]\nnamePrefix: a"+strconv.FormatInt(time.Now().UnixNano(), 10)+"-\n"))
	if out, err := kustomize.Render(patient(t), files, overlay); err != nil || !bytes.Contains(out, []byte("kind: Service")) {
		t.Errorf("a render afterwards: %v, %s", err, out)
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
