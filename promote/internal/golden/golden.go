// Package golden runs the cases of a testdata folder: archives whose last part
// is what the others lead to.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the golden parts of testdata anew")

// Run runs every case of a folder of testdata and compares, or writes, the
// part named output with what render makes of the others.
func Run(t *testing.T, folder, output string, render func(t *testing.T, parts map[string][]byte) string) {
	t.Helper()
	cases, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases in testdata/%s: %v", folder, err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string][]byte{}
			for _, file := range archive.Files {
				parts[file.Name] = file.Data
			}
			got := render(t, parts)
			if *update {
				write(t, path, archive, output, got)
			}
			if diff := cmp.Diff(string(parts[output]), got); diff != "" {
				t.Errorf("%s (-want +got; go test -update writes it):\n%s", output, diff)
			}
		})
	}
}

func write(t *testing.T, path string, archive *txtar.Archive, name, content string) {
	t.Helper()
	last := len(archive.Files) - 1
	if archive.Files[last].Name != name {
		archive.Files = append(archive.Files, txtar.File{Name: name})
		last++
	}
	archive.Files[last].Data = []byte(content)
	if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
