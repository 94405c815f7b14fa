package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCompiledOnce looks that who types what README.md and CONTRIBUTING.md say, and
// what .ci runs, compile with the flags of the image, so that nothing is compiled twice.
func TestCompiledOnce(t *testing.T) {
	t.Parallel()
	exported := regexp.MustCompile(`(?m)^export CGO_ENABLED=0 GOFLAGS=(.*)$`)
	for _, file := range []string{"README.md", "CONTRIBUTING.md", ".ci/quick", ".ci/run", ".ci/numbers"} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		found := exported.FindAllSubmatch(text, -1)
		if len(found) != 1 {
			t.Errorf("%s exports CGO_ENABLED=0 and GOFLAGS %d times", file, len(found))
			continue
		}
		value := regexp.MustCompile(`\$\{.*\}`).ReplaceAllString(strings.Trim(string(found[0][1]), `"`), "")
		// How many packages at a time is no matter of what is compiled.
		flags := slices.DeleteFunc(strings.Fields(value), func(flag string) bool { return strings.HasPrefix(flag, "-p=") })
		if !slices.Equal(flags, []string{"-trimpath"}) {
			t.Errorf("%s sets GOFLAGS=%s", file, found[0][1])
		}
	}
	image, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`CGO_ENABLED=0 .*\\\n +go build -trimpath -ldflags`).Match(image) {
		t.Error("the image is built with other flags")
	}
}
