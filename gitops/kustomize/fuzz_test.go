package kustomize_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// entryLine is a line that can belong to an entry of images, in block or flow style.
var entryLine = regexp.MustCompile(`(?i)images|name|newTag|digest|tagSuffix|^\s*-?\s*(#.*)?$|[\[\]{}]`)

// FuzzSetImage compares with the kustomize command wherever both accept the kustomization: the same render, and no
// other line touched.
func FuzzSetImage(f *testing.F) {
	fuzzed := flag.Lookup("test.fuzz").Value.String() != ""
	for n, c := range setCases(f) {
		if !fuzzed && !*every && n%3 != 0 {
			continue
		}
		for _, arg := range c.args {
			f.Add(string(c.src), arg)
		}
	}
	f.Fuzz(func(t *testing.T, src, arg string) {
		image, err := kustomize.ParseImage(arg)
		if err != nil {
			return
		}
		got, err := kustomize.SetImage([]byte(src), image)
		if err != nil {
			return
		}
		checkForeignLines(t, src, string(got))
		restored, err := kustomize.RestoreImages(got, []byte(src), image.Name)
		switch {
		case err == nil:
			compareImages(t, []byte(src), restored, image.Name)
		case !strings.Contains(err.Error(), "the kustomization is empty"): // only a null images: was there
			t.Fatalf("restoring %q: %v", got, err)
		}
		compareFuzzed(t, src, arg, got)
	})
}

// checkForeignLines compares the lines before and after the part that changed.
func checkForeignLines(t *testing.T, src, got string) {
	t.Helper()
	a, b := strings.Split(src, "\n"), strings.Split(got, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > 0 && len(b) > 0 && strings.TrimSuffix(b[0], "\r") == a[0] {
		a, b = a[1:], b[1:] // the last line got an end
	}
	if entries(src) > 1 {
		return // entries of the same name are merged, over what stands between them
	}
	for _, line := range append(a, b...) {
		if !entryLine.MatchString(line) {
			t.Errorf("touched %q:\n%q\n%q", line, src, got)
		}
	}
}

func entries(src string) int {
	images, _ := kustomize.Images([]byte(src))
	seen, most := map[string]int{}, 0
	for _, i := range images {
		seen[i.Name]++
		most = max(most, seen[i.Name])
	}
	return most
}

func compareImages(t *testing.T, a, b []byte, name string) {
	t.Helper()
	find := func(src []byte) (found []kustomize.Image) {
		images, err := kustomize.Images(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range images {
			if i.Name == name {
				found = append(found, i)
			}
		}
		return found
	}
	before, after := find(a), find(b)
	if len(before) != len(after) {
		t.Fatalf("restored %v, not %v", after, before)
	}
	for i := range before {
		if before[i] != after[i] {
			t.Errorf("restored %v, not %v", after, before)
		}
	}
}

// compareFuzzed compares the render of got with that of the command's edit, where that works.
func compareFuzzed(t *testing.T, src, arg string, got []byte) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "kustomization.yaml")
	if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, dir, "edit", "set", "image", arg); err != nil {
		return
	}
	edited, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := kustomize.Render(t.Context(), tree(t, edited), overlay)
	if err != nil {
		return
	}
	render, err := kustomize.Render(t.Context(), tree(t, got), overlay)
	if err != nil || string(render) != string(want) {
		t.Errorf("%v\nsource %q\nours %q\ntheirs %q\nrender\n%s\nwant\n%s", err, src, got, edited, render, want)
	}
}

// FuzzPatchRoundTrip adds a patch and takes it out again.
func FuzzPatchRoundTrip(f *testing.F) {
	for _, c := range setCases(f) {
		for _, v := range c.variants() {
			f.Add(string(v.src), true)
		}
	}
	f.Fuzz(func(t *testing.T, src string, targeted bool) {
		target := kustomize.Target{}
		if targeted {
			target = ksvc
		}
		const file = "knative-promote-shop.yaml"
		added, err := kustomize.AddPatch([]byte(src), file, target)
		if err != nil || string(added) == src {
			return
		}
		got, err := kustomize.RemovePatch(added, file)
		if err != nil {
			t.Fatalf("%q\n%q\n%v", src, added, err)
		}
		if string(got) != src && !nullPatches(src) {
			t.Errorf("%q\n%q\n%q", src, added, got)
		}
	})
}

// nullPatches reports whether src has a key patches without a value, which is not brought back.
func nullPatches(src string) bool {
	var k map[string]any
	if err := yaml.Unmarshal([]byte(src), &k); err != nil {
		return true // a key twice
	}
	patches, ok := k["patches"]
	return ok && patches == nil
}

// FuzzRender finds inputs that are not rendered or refused in time. A panic would end the test.
func FuzzRender(f *testing.F) {
	for _, c := range setCases(f) {
		f.Add(string(c.src), "")
	}
	for name, file := range archive(f, "testdata/refused.txtar") {
		if strings.HasSuffix(name, "/kustomization.yaml") {
			f.Add(string(file.Data), "a: b")
		}
	}
	f.Add("resources: [service.yaml]\npatches: [{path: extra.yaml}]\n", bomb(3))
	f.Fuzz(func(t *testing.T, kustomization, extra string) {
		files := tree(t, []byte(kustomization))
		files[overlay+"/extra.yaml"] = files[overlay+"/service.yaml"]
		if extra != "" {
			files = withFile(files, overlay+"/extra.yaml", extra)
		}
		if _, err := kustomize.Render(t.Context(), files, overlay); err != nil && strings.Contains(err.Error(), "not ready in time") {
			t.Errorf("not ready in time: %v", err)
		}
	})
}
