package kustomize_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// TestRender compares with the output of the kustomize command, byte for byte.
func TestRender(t *testing.T) {
	t.Parallel()
	for n, c := range setCases(t) {
		if !*every && n%3 != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			compareBuild(t, tree(t, c.src))
		})
	}
}

func TestRenderManyResources(t *testing.T) {
	n := 150
	if *every {
		n = 500
	}
	compareBuild(t, manyResources(n))
}

// patient is a context for renders that may take longer on a busy machine than is allowed by default.
func patient(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func compareBuild(t *testing.T, files fstest.MapFS) {
	t.Helper()
	dir := onDisk(t, files)
	want, err := run(t, dir, "build", "--load-restrictor", "LoadRestrictionsNone", ".")
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]func() ([]byte, error){
		"in memory": func() ([]byte, error) { return kustomize.Render(patient(t), files, overlay) },
		"on disk": func() ([]byte, error) {
			return kustomize.Render(patient(t), os.DirFS(strings.TrimSuffix(dir, overlay)), overlay)
		},
	} {
		out, err := got()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(string(want), string(out)); diff != "" {
			t.Errorf("%s (-kustomize build +ours):\n%s", name, diff)
		}
	}
}

// TestRenderOutside reads files of other folders of the repository, which the command does only when it is told to.
func TestRenderOutside(t *testing.T) {
	t.Parallel()
	files := tree(t, []byte("resources: [../../base/worker.yaml, service.yaml]\nconfigMapGenerator:\n- name: a\n  files: [../../base/kustomization.yaml]\n"))
	if _, err := run(t, onDisk(t, files), "build", "."); err == nil {
		t.Error("kustomize reads them by itself")
	}
	compareBuild(t, files)
	_, got, err := kustomize.Reads(patient(t), files, overlay)
	want := []string{"apps/shop/base/worker.yaml", "apps/shop/base/kustomization.yaml"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, got, err := kustomize.Reads(patient(t), manyResources(500), overlay); err != nil || got != nil {
		t.Errorf("outside of folders of their own: %v, %v", got, err)
	}
}

// manyResources is an overlay of n resources in as many files.
func manyResources(n int) fstest.MapFS {
	files := fstest.MapFS{}
	resources := "namespace: production\nimages: [{name: app, newTag: v2}]\nresources:\n"
	for i := range n {
		name := fmt.Sprintf("resource-%03d", i)
		resources += "  - resources/" + name + ".yaml\n"
		withFile(files, overlay+"/resources/"+name+".yaml", `apiVersion: serving.knative.dev/v1
kind: Service
metadata:
  name: `+name+`
  labels: {team: shop, tier: backend}
spec:
  template:
    metadata:
      annotations:
        autoscaling.knative.dev/max-scale: "10"
    spec:
      containers:
        - image: app:v1
          env:
            - {name: A, value: a}
            - {name: B, value: b}
          ports:
            - containerPort: 8080
          resources:
            requests: {cpu: 250m, memory: 512Mi}
`)
	}
	return withFile(files, overlay+"/kustomization.yaml", resources)
}

// BenchmarkRender renders 500 resources, after a change of one of them and again, beside the kustomize command on the
// same files.
func BenchmarkRender(b *testing.B) {
	files := manyResources(500)
	dir := onDisk(b, files)
	last := files[overlay+"/resources/resource-499.yaml"]
	b.Run("knative-promote", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			withFile(files, overlay+"/resources/resource-499.yaml", fmt.Sprintf("%s# %d\n", last.Data, n))
			if _, err := kustomize.Render(patient(b), files, overlay); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("knative-promote-again", func(b *testing.B) {
		for b.Loop() {
			if _, err := kustomize.Render(patient(b), files, overlay); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("kustomize-build", func(b *testing.B) {
		if _, err := command(); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := run(b, dir, "build", "."); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSetImage sets one tag in a list of 50.
func BenchmarkSetImage(b *testing.B) {
	src := "resources: [service.yaml]\nimages:\n"
	for i := range 50 {
		src += fmt.Sprintf("  - name: app%d\n    newTag: v1\n", i)
	}
	for b.Loop() {
		if _, err := kustomize.SetImage([]byte(src), kustomize.Image{Name: "app25", NewTag: "v2"}); err != nil {
			b.Fatal(err)
		}
	}
}
