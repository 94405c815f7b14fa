package kustomize_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/acme/knative-promote/gitops/kustomize"
)

const overlay = "apps/shop/overlays/production"

// setCase is one kustomization of testdata/set: after setting the images of args it must read want, byte for byte.
type setCase struct {
	name      string
	args      []string
	src, want []byte
}

// variants are the case itself and the same in other guises, which must not make a difference.
func (c setCase) variants() []setCase {
	change := func(name string, f func(string) string) setCase {
		return setCase{c.name + "/" + name, c.args, []byte(f(string(c.src))), []byte(f(string(c.want)))}
	}
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	mark := func(s string) string { return "\uFEFF" + s }
	return []setCase{
		change("plain", func(s string) string { return s }),
		change("crlf", crlf),
		change("no final newline", func(s string) string { return strings.TrimSuffix(s, "\n") }),
		change("crlf without the last", func(s string) string { return strings.TrimSuffix(crlf(s), "\r\n") }),
		change("byte order mark", mark),
	}
}

func setCases(t testing.TB) []setCase {
	t.Helper()
	files, err := filepath.Glob("testdata/set/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	var cases []setCase
	for _, file := range files {
		byName := archive(t, file)
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			if path.Base(name) == "args" {
				dir := path.Dir(name)
				cases = append(cases, setCase{
					name: dir,
					args: strings.Fields(string(byName[name].Data)),
					src:  byName[dir+"/kustomization.yaml"].Data,
					want: byName[dir+"/want.yaml"].Data,
				})
			}
		}
	}
	return cases
}

func archive(t testing.TB, file string) fstest.MapFS {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, f := range a.Files {
		if files[f.Name] != nil {
			t.Fatalf("%s has %s twice", file, f.Name)
		}
		files[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
	}
	return files
}

// tree is the repository of testdata/tree.txtar with the kustomization in the overlay.
func tree(t testing.TB, kustomization []byte) fstest.MapFS {
	t.Helper()
	files := archive(t, "testdata/tree.txtar")
	files[path.Join(overlay, "kustomization.yaml")] = &fstest.MapFile{Data: kustomization, Mode: 0o644}
	return files
}

func withFile(files fstest.MapFS, name, content string) fstest.MapFS {
	files[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	return files
}

// command is the real kustomize.
var command = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "tool", "-n", "sigs.k8s.io/kustomize/kustomize/v5").Output()
	return strings.TrimSpace(string(out)), err
})

func run(t testing.TB, dir string, args ...string) ([]byte, error) {
	t.Helper()
	kustomize, err := command()
	if err != nil {
		t.Fatalf("building kustomize: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), kustomize, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Logf("kustomize %s: %v: %s", strings.Join(args, " "), err, &stderr)
	}
	return out, err
}

// onDisk writes the tree to a folder and returns the overlay's.
func onDisk(t testing.TB, files fs.FS) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, filepath.FromSlash(overlay))
}

func images(t testing.TB, args []string) []kustomize.Image {
	t.Helper()
	var parsed []kustomize.Image
	for _, arg := range args {
		image, err := kustomize.ParseImage(arg)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, image)
	}
	return parsed
}
