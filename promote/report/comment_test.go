package report

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/acme/knative-promote/promote"
)

var update = flag.Bool("update", false, "write the golden parts of testdata anew")

// golden runs every case of a folder and compares, or writes, the part named
// output with what render makes of the others.
func golden(t *testing.T, folder, output string, render func(t *testing.T, parts map[string][]byte) string) {
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
			got := render(t, partsOf(archive))
			if *update {
				write(t, path, archive, output, got)
			}
			if diff := cmp.Diff(string(partsOf(archive)[output]), got); diff != "" {
				t.Errorf("%s (-want +got; go test -update writes it):\n%s", output, diff)
			}
		})
	}
}

func partsOf(archive *txtar.Archive) map[string][]byte {
	parts := map[string][]byte{}
	for _, file := range archive.Files {
		parts[file.Name] = file.Data
	}
	return parts
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

func TestComment(t *testing.T) {
	t.Parallel()
	golden(t, "comment", "comment.md", func(t *testing.T, parts map[string][]byte) string {
		r := result(t, parts)
		comment := Comment(r)
		if !strings.HasPrefix(comment, Marker(r)+"\n") {
			t.Errorf("comment does not start with its marker: %.80q", comment)
		}
		checkPage(t, comment, CommentLimit)
		checkPage(t, Summary(r), SummaryLimit)
		return comment
	})
}

func result(t *testing.T, parts map[string][]byte) promote.Result {
	t.Helper()
	var r promote.Result
	if err := json.Unmarshal(parts["result.json"], &r); err != nil {
		t.Fatal(err)
	}
	r.Diff = Diff(parts["before.yaml"], parts["after.yaml"])
	r.CommitURL = "https://github.com/acme/infra/commit/"
	r.Undo = "knative-promote rollback --repository acme/infra --path " + r.Overlay
	r.UndoNeeds = []string{"INPUT_TOKEN", "INPUT_ARGOCD_TOKEN"}
	return r
}

func TestMarker(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range []promote.Result{
		{Service: "a", Environment: "b", Overlay: "apps/a/overlays/b"}, {Service: "a/b", Overlay: "apps"}, {Service: "a", Environment: "b/", Overlay: "apps"},
		{Service: "a", Environment: "b", Overlay: "/apps"}, {Service: "a", Environment: "b", Overlay: "apps"}, {Service: "b", Environment: "a", Overlay: "apps"},
		{Service: "a", Target: "https://github.com/acme/infra.git main"}, {Service: "a", Target: "https://github.com/acme/infra.git next"},
		{Service: "a", Target: "https://github.com/acme/other.git main"}, {Service: "a", Application: "a-eu"}, {Service: "a", Application: "a-us"},
	} {
		marker := Marker(r)
		if seen[marker] {
			t.Errorf("%+v has the marker of another one: %s", r, marker)
		}
		seen[marker] = true
	}
	r := promote.Result{Service: "checkout", Environment: "staging", Overlay: "apps/checkout/overlays/staging", Application: "checkout-staging", Target: "https://github.com/acme/infra.git main"}
	if got, want := Marker(r), "<!-- knative-promote:fef386b1f64153f868cc -->"; got != want {
		t.Errorf("Marker = %s, want %s", got, want)
	}
}
