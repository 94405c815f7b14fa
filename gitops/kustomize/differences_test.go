package kustomize_test

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// versions are the kustomize of the modules that the control planes' Argo CD is built from.
var versions = map[string]string{"5.4.3": "argocd-v2.14.21", "5.8.1": "argocd-v3.5.7"}

const differencesFile = "testdata/differences.txtar"

// differingCases are the overlays of testdata/differences.txtar, by name.
func differingCases(t *testing.T) map[string]fstest.MapFS {
	t.Helper()
	files := archive(t, differencesFile)
	cases := map[string]fstest.MapFS{}
	for name, file := range files {
		if of, inside, ok := strings.Cut(name, "/"); ok && inside != "want" {
			if cases[of] == nil {
				cases[of] = fstest.MapFS{overlay + "/base.yaml": files["base.yaml"]}
			}
			cases[of][overlay+"/"+inside] = file
		}
	}
	return cases
}

// said is a Difference as testdata/differences.txtar has it.
func said(all []kustomize.Difference) string {
	var b strings.Builder
	for _, d := range all {
		b.WriteString(d.File + ": " + d.What + " (" + d.Since + ")\n")
	}
	return strings.ReplaceAll(b.String(), overlay+"/", "")
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	a, err := txtar.ParseFile(differencesFile)
	if err != nil {
		t.Fatal(err)
	}
	cases := differingCases(t)
	for _, file := range a.Files {
		of, inside, _ := strings.Cut(file.Name, "/")
		if inside != "want" {
			continue
		}
		all, err := kustomize.Differences(t.Context(), cases[of], overlay)
		if err != nil {
			t.Errorf("%s: %v", of, err)
		}
		if diff := cmp.Diff(string(file.Data), said(all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", of, diff)
		}
	}
}

// TestDifferencesNone wants none in what all versions render alike.
func TestDifferencesNone(t *testing.T) {
	t.Parallel()
	for _, c := range setCases(t) {
		if all, err := kustomize.Differences(t.Context(), tree(t, c.src), overlay); err != nil || len(all) > 0 {
			t.Errorf("%s: %v, %s", c.name, err, said(all))
		}
	}
	infra := os.DirFS("../../testdata/infra")
	overlays, err := kustomize.Overlays(infra, none)
	if err != nil || len(overlays) == 0 {
		t.Fatal(overlays, err)
	}
	for _, dir := range overlays {
		if all, err := kustomize.Differences(t.Context(), infra, dir); err != nil || len(all) > 0 {
			t.Errorf("%s: %v, %s", dir, err, said(all))
		}
	}
}

// TestDifferencesOfVersions holds the list to what the real versions render: a difference where one is found, and none
// where none is.
func TestDifferencesOfVersions(t *testing.T) {
	if !*every {
		t.Skip("compiles other versions of kustomize: run it with -every")
	}
	cases := differingCases(t)
	for _, c := range setCases(t) {
		cases[c.name] = tree(t, c.src)
	}
	for version, program := range otherVersions(t) {
		for _, name := range slices.Sorted(maps.Keys(cases)) {
			compareVersion(t, program, version, name, cases[name])
		}
	}
}

// otherVersions are programs of other versions of kustomize, by version.
func otherVersions(t *testing.T) map[string]string {
	t.Helper()
	programs := map[string]string{}
	for version, module := range versions {
		program := filepath.Join(t.TempDir(), "kustomize")
		build := exec.CommandContext(t.Context(), "go", "build", "-mod=readonly", "-o", program, "sigs.k8s.io/kustomize/kustomize/v5")
		build.Dir = filepath.Join("../../testdata/cluster/modules", module)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building kustomize %s: %v\n%s", version, err, out)
		}
		programs[version] = program
	}
	return programs
}

func compareVersion(t *testing.T, program, version, name string, files fstest.MapFS) {
	t.Helper()
	want, err := kustomize.Render(patient(t), files, overlay)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	all, err := kustomize.Differences(t.Context(), files, overlay)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	found := slices.ContainsFunc(all, func(d kustomize.Difference) bool { return differsIn(d, version) })
	cmd := exec.CommandContext(t.Context(), program, "build", "--load-restrictor", "LoadRestrictionsNone", ".")
	cmd.Dir = onDisk(t, files)
	got, err := cmd.Output()
	if differs := err != nil || string(got) != string(want); differs != found {
		t.Errorf("%s with kustomize %s: found a difference: %t, renders otherwise: %t, %v\n%s", name, version, found, differs, err, cmp.Diff(string(want), string(got)))
	}
}

// differsIn tells whether a version reads it otherwise than the one whose code is linked.
func differsIn(d kustomize.Difference, version string) bool {
	since := semver.MustParse(d.Since)
	return semver.MustParse(version).LessThan(since) != semver.MustParse(kustomize.Version).LessThan(since)
}

// TestVersion wants the version whose code is linked.
func TestVersion(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile(path.Join("../..", "go.mod"))
	if err != nil || !strings.Contains(string(mod), "sigs.k8s.io/kustomize/kustomize/v5 v"+kustomize.Version+" ") {
		t.Errorf("go.mod has another version of kustomize than %s: %v", kustomize.Version, err)
	}
}

// TestDifferencesOfManySelectors has more selectors and values than are compared: each selector counts as one that may select something else.
func TestDifferencesOfManySelectors(t *testing.T) {
	const selectors = 200
	files := tree(t, []byte("resources: [service.yaml]\nreplacements:\n"+each(selectors, "- {source: {kind: A}, targets: [{select: {kind: A, name: a%d.b}, fieldPaths: [spec.x]}]}\n")))
	withFile(files, overlay+"/service.yaml", "apiVersion: v1\nkind: A\nmetadata: {name: a}\nspec: ["+strings.Repeat("b,", 30_000)+"]\n")
	found, err := kustomize.Differences(t.Context(), files, overlay)
	if err != nil || len(found) != selectors {
		t.Errorf("got %d differences, %v; want %d", len(found), err, selectors)
	}
}
