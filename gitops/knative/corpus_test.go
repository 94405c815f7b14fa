package knative_test

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aymanbagabas/go-udiff"
	"golang.org/x/tools/txtar"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/fake/golden"
)

// A case of the corpus is an archive: why it is there, the file edit, the files
// of a repository, and what is wanted: the file diff with a diff after each
// step, the file error with the error that ends it, or both.
type scenario struct {
	path   string
	script []string
	tree   fstest.MapFS
	want   map[string]string
}

func scenarios(t testing.TB) map[string]scenario {
	t.Helper()
	found := map[string]scenario{}
	for _, c := range golden.Cases(t, "testdata/*.txtar") {
		found[c.Name] = parse(t, c.Path)
	}
	return found
}

func parse(t testing.TB, file string) scenario {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(bytes.TrimSpace(archive.Comment)) == 0 {
		t.Fatalf("%s does not say why it is there", file)
	}
	s := scenario{path: file, tree: fstest.MapFS{}, want: map[string]string{}}
	for _, f := range archive.Files {
		switch f.Name {
		case "edit":
			s.script = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		case "diff", "error":
			s.want[f.Name] = string(f.Data)
		default:
			s.tree[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
		}
	}
	return s
}

// TestCorpus makes the edits of every case as a promotion does.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for name, s := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.start(t, newCluster(t, nil))
			r.unseen = true
			golden.Compare(t, s.path, r.run(t, s.script), "diff", "error")
		})
	}
}

// TestCorpusElsewhere makes them again in a cluster with other defaults than
// Knative's own, and with the live Service known: Knative must accept every
// commit there too.
func TestCorpusElsewhere(t *testing.T) {
	t.Parallel()
	for name, s := range scenarios(t) {
		if s.want["error"] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := s.start(t, newCluster(t, ownSettings())).run(t, s.script); got["error"] != "" {
				t.Error(got["error"])
			}
		})
	}
}

// TestDefaultsAreNeeded takes the defaults file out of every case that has one:
// Knative must then refuse the commits that only shift traffic. This is what
// the file is for; where it is not needed there is none.
func TestDefaultsAreNeeded(t *testing.T) {
	t.Parallel()
	needed := 0
	for name, s := range scenarios(t) {
		if s.want["error"] != "" || !strings.Contains(s.want["diff"], "+# Written by knative-promote: what Knative adds") || !slices.Contains(s.script, "step 10") {
			continue
		}
		needed++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.start(t, newCluster(t, nil))
			r.withoutDefaults = true
			got := r.run(t, s.script)
			if !strings.Contains(got["error"], "Saw the following changes without a name change") {
				t.Errorf("Knative takes the commits without the defaults: %v", got)
			}
		})
	}
	if needed == 0 {
		t.Error("no case of the corpus has defaults")
	}
}

// start begins a case with what is in Git at its beginning also in the cluster.
func (s scenario) start(t testing.TB, c *cluster) *run {
	t.Helper()
	r := &run{tree: maps.Clone(s.tree), overlay: "overlay", tag: "candidate", keep: true, cluster: c}
	for _, line := range s.script {
		if file, ok := strings.CutPrefix(line, "crlf "); ok {
			r.tree[file] = &fstest.MapFile{Data: bytes.ReplaceAll(r.tree[file].Data, []byte("\n"), []byte("\r\n")), Mode: 0o644}
		}
	}
	r.begin = maps.Clone(r.tree)
	return r
}

// changes is the difference between two trees for people.
func changes(before, after fstest.MapFS) string {
	names := maps.Clone(before)
	maps.Copy(names, after)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		b.WriteString(udiff.Unified("a/"+name, "b/"+name, text(before[name]), text(after[name])))
	}
	return b.String()
}

func text(f *fstest.MapFile) string {
	if f == nil {
		return ""
	}
	return strings.ReplaceAll(string(f.Data), "\r", "␍")
}

func parseImages(args []string) ([]kustomize.Image, error) {
	var images []kustomize.Image
	for _, arg := range args {
		image, err := kustomize.ParseImage(arg)
		if err != nil {
			return nil, err
		}
		images = append(images, image)
	}
	return images, nil
}

// withoutDefaults is a tree whose overlay does not register the defaults file.
func withoutDefaults(tree fstest.MapFS, overlay, service string) (fstest.MapFS, error) {
	name, err := kustomize.File(tree, overlay)
	if err != nil {
		return nil, err
	}
	file := path.Join(overlay, name)
	content, err := kustomize.RemovePatch(tree[file].Data, fmt.Sprintf("knative-promote-%s.defaults.yaml", service))
	if err != nil {
		return nil, err
	}
	tree = maps.Clone(tree)
	tree[file] = &fstest.MapFile{Data: content, Mode: 0o644}
	return tree, nil
}
