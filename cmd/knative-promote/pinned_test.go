package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
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

// TestDependabot looks that Dependabot is told of every Go module.
func TestDependabot(t *testing.T) {
	t.Parallel()
	var config struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directories []string
		}
	}
	text, err := os.ReadFile(filepath.Join(root, ".github/dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, update := range config.Updates {
		if update.Ecosystem == "gomod" {
			told = append(told, update.Directories...)
		}
	}
	var want []string
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Base(name) == "go.mod" {
			want = append(want, path.Join("/", path.Dir(name)))
		}
		return err
	})
	if err != nil || len(want) < 2 {
		t.Fatalf("modules %v, error %v", want, err)
	}
	slices.Sort(told)
	slices.Sort(want)
	if !slices.Equal(told, want) {
		t.Errorf("Dependabot is told of %v, want %v", told, want)
	}
}
