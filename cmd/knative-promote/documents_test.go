package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// root is the project's folder, seen from this package's.
const root = "../.."

// documents are the project's Markdown files by their paths from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", ".github/*.md", ".github/ISSUE_TEMPLATE/*.md", "promote/check/rules/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[strings.TrimPrefix(filepath.ToSlash(file), root+"/")] = string(text)
		}
	}
	if len(texts) < 5 {
		t.Fatalf("%d documents", len(texts))
	}
	return texts
}

// walk visits every node of a document.
func walk(document string, visit func(ast.Node)) {
	source := []byte(document)
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(node)
		}
		return ast.WalkContinue, nil
	})
}

// TestLinks follows every link of a document to a file, and to a heading in it.
func TestLinks(t *testing.T) {
	t.Parallel()
	all := documents(t)
	checked := 0
	for file, document := range all {
		walk(document, func(node ast.Node) {
			link, ok := node.(*ast.Link)
			if !ok || strings.Contains(string(link.Destination), ":") {
				return // elsewhere
			}
			checked++
			target, heading, _ := strings.Cut(string(link.Destination), "#")
			name := file
			if target != "" {
				name = path.Join(path.Dir(file), target)
			}
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("%s: %s: %v", file, link.Destination, err)
			}
			if heading != "" && !slices.Contains(headings(all[name]), heading) {
				t.Errorf("%s: %s has no heading for %s", file, name, link.Destination)
			}
		})
	}
	if checked < 20 {
		t.Errorf("%d links", checked)
	}
}

// TestNamedFiles looks that the files that the documents name are there.
func TestNamedFiles(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile("`((?:cmd|promote|gitops|argo|testdata|docs|\\.ci|\\.github)/[a-z0-9A-Z_./-]+)`")
	checked := 0
	for file, document := range documents(t) {
		for _, match := range name.FindAllStringSubmatch(document, -1) {
			if strings.Contains(match[1], "NAME") {
				continue // a reader's own
			}
			checked++
			if _, err := os.Stat(filepath.Join(root, match[1])); err != nil {
				t.Errorf("%s names %s: %v", file, match[1], err)
			}
		}
	}
	if checked < 20 {
		t.Errorf("%d names of files", checked)
	}
}

// headings are a document's as GitHub names them in addresses.
func headings(document string) []string {
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(document, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(match[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// TestFlagsAreDocumented compares the flags that tests have with the table of
// CONTRIBUTING.md.
func TestFlagsAreDocumented(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	declaration := regexp.MustCompile(`= flag\.[A-Z]\w+\("([a-z-]+)"`)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if !strings.HasSuffix(name, "_test.go") && !bytes.Contains(text, []byte("\t\"testing\"\n")) {
			return err // not a part of tests
		}
		for _, match := range declaration.FindAllSubmatch(text, -1) {
			declared["-"+string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(documents(t)["CONTRIBUTING.md"], "\n## The flags of the tests\n")
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `(-[a-z-]+)").FindAllStringSubmatch(section, -1) {
		documented[match[1]] = true
	}
	if diff := cmp.Diff(declared, documented); diff != "" || len(declared) == 0 {
		t.Errorf("the flags of the tests (-declared +in CONTRIBUTING.md):\n%s", diff)
	}
}

// TestArchitectureNamesPackages looks that a reader of docs/architecture.md
// finds every package of the program in it.
func TestArchitectureNamesPackages(t *testing.T) {
	t.Parallel()
	const module = "github.com/acme/knative-promote/"
	out, err := exec.CommandContext(t.Context(), "go", "list", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := documents(t)["docs/architecture.md"]
	for _, name := range strings.Fields(string(out)) {
		name = strings.TrimPrefix(name, module)
		if !strings.Contains(name, "/internal/") && !strings.Contains(text, "`"+name+"/`") {
			t.Errorf("docs/architecture.md does not name %s", name)
		}
	}
}

// TestArchitectureNamesDependencies looks that it says of each module that go.mod requires
// what it is for, and of no other.
func TestArchitectureNamesDependencies(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{if not (or .Indirect .Main)}}{{.Path}}{{end}}", "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(documents(t)["docs/architecture.md"], "\n## Dependencies\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var named []string
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\|$").FindAllStringSubmatch(section, -1) {
		named = append(named, match[1])
	}
	if diff := cmp.Diff(strings.Fields(string(out)), named); diff != "" {
		t.Errorf("the modules (-go.mod +docs/architecture.md):\n%s", diff)
	}
}
