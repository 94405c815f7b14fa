package kustomize_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/acme/knative-promote/gitops/kustomize"
)

func none(string) bool { return false }

func TestTouched(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := fstest.MapFS{
		"README.md":                                  file("hello"),
		"components/mesh/kustomization.yaml":         file("kind: Component\npatches: [{path: mesh.yaml}]\n"),
		"components/mesh/mesh.yaml":                  file("a: b\n"),
		"apps/a/base/kustomization.yaml":             file("resources: [service.yaml]\n"),
		"apps/a/base/service.yaml":                   file("kind: Service\n"),
		"apps/a/overlays/prod/kustomization.yaml":    file("resources: [../../base]\ncomponents: [../../../../components/mesh]\n"),
		"apps/a/overlays/prod/patches/scale.yaml":    file("a: b\n"),
		"apps/a/overlays/staging/kustomization.yaml": file("resources: [../../base]\n"),
		"apps/b/Kustomization":                       file("resources: [service.yaml, https://example.test/x]\n"),
		"apps/b/service.yaml":                        file("kind: Service\n"),
		"apps/loop/x/kustomization.yaml":             file("resources: [../y]\n"),
		"apps/loop/y/kustomization.yaml":             file("resources: [../x]\n"),
		"apps/loop/user/kustomization.yaml":          file("resources: [../../self]\n"),
		"apps/self/kustomization.yaml":               file("resources: [., service.yaml]\n"),
		"apps/narcissus/kustomization.yaml":          file("resources: [../narcissus]\n"),
		"apps/bad/kustomization.yaml":                file("resources: {not: a list}\n"),
		"apps/c/kustomization.yaml":                  file("patches: [{path: ../../shared/scale.yaml}]\nconfigMapGenerator: [{name: c, files: [a.txt=../../shared/a.txt]}]\n"),
		"apps/c/link.yaml":                           {Data: []byte("../../shared/linked.yaml"), Mode: fs.ModeSymlink},
		"apps/d/knative-promote-d.yaml":              file("kind: Service\n"),
		"apps/d/kustomization.yaml":                  file("patches: [{path: knative-promote-d.yaml}]\n"),
		"apps/e/kustomization.yaml":                  file("resources: [../d]\n"),
		"apps/f":                                     {Data: []byte("b"), Mode: fs.ModeSymlink},
		"apps/g/kustomization.yaml":                  file("resources: [../shared/base]\npatches: [{path: ../shared/scale.yaml}]\n"),
		"apps/shared":                                {Data: []byte("lib"), Mode: fs.ModeSymlink},
		"apps/lib":                                   {Data: []byte("../lib/v1"), Mode: fs.ModeSymlink},
		"lib/v1/base/kustomization.yaml":             file("resources: [service.yaml]\n"),
		"apps/j/kustomization.yaml":                  file("kind: Component\nresources: [service.yaml]\n"),
		"apps/j/knative-promote-j.yaml":              file("kind: Service\n"),
		"apps/c/up.yaml":                             {Data: []byte("../../docs/up/../x/scale.yaml"), Mode: fs.ModeSymlink},
		"docs/up":                                    {Data: []byte("../other/deep"), Mode: fs.ModeSymlink},
		"other/deep/README":                          file(""),
		"apps/nowhere":                               {Data: []byte("gone"), Mode: fs.ModeSymlink},
		"apps/outside":                               {Data: []byte("../../etc"), Mode: fs.ModeSymlink},
		"apps/k/kustomization.yaml":                  file("components: [\"../li\\nes\"]\npatches: [{path: \"../pat\\nches/a=b.yaml\"}]\n"),
		"apps/li\nes/kustomization.yaml":             file("kind: Component\npatches: [{path: p.yaml}]\n"),
	}
	for name, test := range map[string]struct{ changed, want []string }{
		"nothing":           {nil, nil},
		"outside":           {[]string{"README.md"}, nil},
		"base":              {[]string{"apps/a/base/service.yaml"}, []string{"apps/a/overlays/prod", "apps/a/overlays/staging"}},
		"component":         {[]string{"components/mesh/mesh.yaml"}, []string{"apps/a/overlays/prod"}},
		"own patch":         {[]string{"apps/a/overlays/prod/patches/scale.yaml"}, []string{"apps/a/overlays/prod"}},
		"own kustomization": {[]string{"apps/b/Kustomization"}, []string{"apps/f"}},
		"deleted file":      {[]string{"apps/b/gone.yaml"}, []string{"apps/f"}},
		"a patch elsewhere": {[]string{"shared/scale.yaml"}, []string{"apps/c"}},
		"a generator's":     {[]string{"shared/a.txt"}, []string{"apps/c"}},
		"a link's":          {[]string{"shared/linked.yaml"}, []string{"apps/c"}},
		"by a linked one":   {[]string{"lib/v1/scale.yaml"}, []string{"apps/g"}},
		"a base by a link":  {[]string{"lib/v1/base/service.yaml"}, []string{"apps/g"}},
		"a link on the way": {[]string{"apps/lib"}, []string{"apps/g"}},
		"up from a link":    {[]string{"other/x/scale.yaml"}, []string{"apps/c"}},
		"not up in letters": {[]string{"docs/x/scale.yaml"}, nil},
		"a link to go up":   {[]string{"docs/up"}, []string{"apps/c"}},
		"a component":       {[]string{"apps/j/service.yaml"}, []string{"apps/j"}},
		"a promoted one":    {[]string{"apps/d/kustomization.yaml"}, []string{"apps/d", "apps/e"}},
		"unreadable":        {[]string{"apps/bad/kustomization.yaml"}, []string{"apps/bad"}},
		"cycle":             {[]string{"apps/loop/y/kustomization.yaml"}, []string{"apps/loop/x"}},
		"builds on itself":  {[]string{"apps/narcissus/kustomization.yaml"}, []string{"apps/narcissus"}},
		"used in a cycle":   {[]string{"apps/self/service.yaml"}, []string{"apps/loop/user"}},
		"lines in a name":   {[]string{"apps/li\nes/p.yaml"}, []string{"apps/k"}},
		"in a patch's name": {[]string{"apps/pat\nches/a=b.yaml"}, []string{"apps/k"}},
		"name's beginning":  {[]string{"apps/bb/service.yaml"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := kustomize.Touched(tree, tree, test.changed, none)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Touched (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTouchedIsNotHidden has a change add a folder that builds on an overlay, take one away, and
// bring one that a new folder builds on: all are still told.
func TestTouchedIsNotHidden(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	base := fstest.MapFS{"apps/a/kustomization.yaml": file("resources: [a.yaml]\n"), "apps/b/kustomization.yaml": file("resources: [b.yaml]\n")}
	head := fstest.MapFS{
		"apps/a/kustomization.yaml": file("resources: [a.yaml, more.yaml]\n"), "docs/kustomization.yaml": file("resources: [../apps/a, ../apps/c]\n"),
		"apps/c/kustomization.yaml": file("resources: [c.yaml]\n"), "apps/part/kustomization.yaml": file("kind: Component\n"),
	}
	got, parts, err := kustomize.Touched(base, head, []string{"apps/a/kustomization.yaml", "apps/b/kustomization.yaml", "apps/c/kustomization.yaml", "docs/kustomization.yaml"}, none)
	if diff := cmp.Diff([]string{"apps/a", "apps/b", "docs"}, got); diff != "" || err != nil {
		t.Errorf("%v, touched (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]kustomize.Part{{Path: "apps/c", Users: []string{"docs"}}}, parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

// TestTouchedIsDeployed has one that is known to be deployed, and that another one builds on.
func TestTouchedIsDeployed(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := fstest.MapFS{"apps/production/kustomization.yaml": file("resources: [a.yaml]\n"), "apps/preview/kustomization.yaml": file("resources: [../production]\n")}
	deployed := func(folder string) bool { return folder == "apps/production" }
	got, parts, err := kustomize.Touched(tree, tree, []string{"apps/production/a.yaml"}, deployed)
	if diff := cmp.Diff([]string{"apps/preview", "apps/production"}, got); diff != "" || err != nil || len(parts) > 0 {
		t.Errorf("%v, parts %v, touched (-want +got):\n%s", err, parts, diff)
	}
}

// TestBelow follows links to what an overlay builds on, and one that is a link itself.
func TestBelow(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	link := func(to string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink} }
	tree := fstest.MapFS{
		"apps/base/kustomization.yaml": file("resources: [a.yaml]\n"), "apps/staging/kustomization.yaml": file("resources: [../base]\n"),
		"apps/linked": link("staging"), "apps/production/kustomization.yaml": file("resources: [../linked]\n"),
		"apps/loop/kustomization.yaml": file("resources: [../loop, ../gone]\n"),
	}
	for overlay, want := range map[string][]string{
		"apps/base": nil, "apps/staging": {"apps/base"}, "apps/production/": {"apps/base", "apps/staging"},
		"apps/linked": {"apps/base", "apps/staging"}, "apps/loop": nil, "apps/none": nil,
	} {
		if diff := cmp.Diff(want, kustomize.Below(tree, overlay), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", overlay, diff)
		}
	}
}

// TestTouchedByAnything has an overlay's transformers name a file in another folder, and a
// kustomization that is too large to be looked into.
func TestTouchedByAnything(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := fstest.MapFS{
		"apps/a/kustomization.yaml": file("transformers: [patch.yaml]\n"), "apps/b/kustomization.yaml": file("resources: [../a]\n"), "apps/c/kustomization.yaml": file("resources: [c.yaml]\n"),
		"apps/d/kustomization.yaml": file("patches: [{path: ../../shared/patch.yaml}]\n" + strings.Repeat("#", 1<<20)),
		"apps/a/patch.yaml":         file("apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: patch}\npath: ../../shared/patch.yaml\n"),
	}
	got, _, err := kustomize.Touched(tree, tree, []string{"shared/patch.yaml"}, none)
	if diff := cmp.Diff([]string{"apps/b", "apps/d"}, got); diff != "" || err != nil {
		t.Errorf("%v, touched (-want +got):\n%s", err, diff)
	}
}
