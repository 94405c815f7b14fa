package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestPinned looks that what the workflows use and what the image is made from
// cannot change behind a name: a full commit, or a digest. The action itself is
// what the examples are about.
func TestPinned(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^(?:\./\S+|\S+@[0-9a-f]{40}|acme/knative-promote@v1|(?:--platform=\S+ )?\S+@sha256:[0-9a-f]{64}|scratch)$`)
	used := regexp.MustCompile(`(?m)^(?:\s*(?:- )?uses:|FROM) ([^#\n]*?)(?: AS \w+)?\s*(?:#.*)?$`)
	seen := 0
	for _, pattern := range []string{".github/workflows/*.yml", ".github/examples/*.yml", "Dockerfile"} {
		files, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range used.FindAllStringSubmatch(string(text), -1) {
				seen++
				if !pinned.MatchString(match[1]) {
					t.Errorf("%s uses %q: expected the full hash of a commit, or a digest", file, match[1])
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d uses were found", seen)
	}
}
