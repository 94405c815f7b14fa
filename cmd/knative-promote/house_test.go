package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestHouse holds the packages to their places: gitops and argo know neither
// each other nor the promotion, and share no more than how to quote a text and
// how to write a repository's address; what compares manifests knows nothing of
// ours, go-git stays behind gitops, and the story does not touch the
// environment.
func TestHouse(t *testing.T) {
	t.Parallel()
	const module = "github.com/acme/knative-promote/"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(fields[0], module)
		for _, imported := range fields[1:] {
			inner, ours := strings.CutPrefix(imported, module)
			if strings.HasPrefix(inner, "internal/") && !strings.HasPrefix(name, "internal/") { // knows nothing of ours
				continue
			}
			top, _, _ := strings.Cut(inner, "/")
			switch {
			case strings.HasPrefix(imported, "github.com/go-git/") && name != "gitops",
				ours && strings.HasPrefix(name, "gitops") && top != "gitops",
				(name == "argo" || name == "promote/manifest" || strings.HasPrefix(name, "internal/")) && ours,
				ours && strings.HasPrefix(name, "promote") && top == "cmd",
				name == "promote" && slices.Contains([]string{"os", "os/exec", "flag", "log", "syscall"}, imported):
				t.Errorf("%s imports %s", name, imported)
			}
		}
	}
}
