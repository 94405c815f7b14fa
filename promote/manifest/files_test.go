package manifest

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/golden"
)

// TestFiles writes each object of a manifest as a file.
func TestFiles(t *testing.T) {
	t.Parallel()
	golden.Run(t, "testdata/files/*.txtar", "files", func(t *testing.T, parts map[string][]byte) string {
		var b strings.Builder
		for _, file := range Files(parts["manifest.yaml"]) {
			if planted.MatchString(file.Content) {
				t.Errorf("a secret in %s", file.Name)
			}
			fmt.Fprintf(&b, "==> %s\n%s", file.Name, file.Content)
		}
		return b.String()
	})
}

// FuzzFiles has objects with any name: each gets a file of its own, in no other
// folder.
func FuzzFiles(f *testing.F) {
	f.Add("apps/v1", "Deployment", "shop", "web", "Web")
	f.Add("../..", "..", "../../etc", "passwd", "/etc/passwd")
	f.Add("", "", "", "", "")
	f.Add("v1", "A", "b", "c", strings.Repeat("long", 100))
	f.Add("a/v1", "B_C", "-rf", ".", "x_2")
	f.Fuzz(func(t *testing.T, version, kind, namespace, one, other string) {
		var manifest strings.Builder
		for _, name := range []string{one, other, one} {
			fmt.Fprintf(&manifest, "---\napiVersion: %q\nkind: %q\nmetadata: {name: %q, namespace: %q}\n", version, kind, name, namespace)
		}
		var names []string
		for _, file := range Files([]byte(manifest.String())) {
			if !fs.ValidPath(file.Name) || strings.ContainsAny(file.Name, `/\`) || strings.HasPrefix(file.Name, ".") || strings.HasPrefix(file.Name, "-") || len(file.Name) > 255 {
				t.Errorf("a file is named %q", file.Name)
			}
			names = append(names, strings.ToLower(file.Name))
		}
		slices.Sort(names)
		if len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("two files have one name: %q", names)
		}
	})
}
