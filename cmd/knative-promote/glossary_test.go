package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGlossary looks for words that the glossary rules out: in the program's
// code, comments and messages, in the documents, and in what scripts say of
// themselves.
func TestGlossary(t *testing.T) {
	t.Parallel()
	texts := documents(t)
	architecture, glossary, found := strings.Cut(texts["docs/architecture.md"], "\n## Glossary\n")
	_, list, listed := strings.Cut(glossary, "These words appear nowhere else:")
	if !found || !listed {
		t.Fatal("docs/architecture.md lists no words")
	}
	texts["docs/architecture.md"] = architecture
	var forms []string
	for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1) {
		forms = append(forms, strings.ReplaceAll(word[1], " … ", `( \w+){0,2} `))
	}
	ruledOut := regexp.MustCompile(`(?i)\b(` + strings.Join(forms, "|") + `)\b`)
	addProgram(t, texts)
	lineEnd := regexp.MustCompile(`\s*\n\s*(//|#)?\s*`) // a comment may break its line between two words
	for name, text := range texts {
		if words := ruledOut.FindAllString(lineEnd.ReplaceAllString(text, " "), -1); words != nil {
			t.Errorf("%s has words that the glossary rules out: %q", name, words)
		}
	}
}

// addProgram adds the program's files, and the comments of the scripts.
func addProgram(t *testing.T, texts map[string]string) {
	t.Helper()
	comment := regexp.MustCompile(`(?m)^#.*$`)
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(file), root+"/")
		script := strings.HasPrefix(name, "testdata/script/")
		code := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") || name == "action.yml"
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == ".git" || name == "testdata/cluster"):
			return filepath.SkipDir
		case entry.IsDir() || !script && !code:
			return nil
		}
		text, err := os.ReadFile(file)
		if texts[name] = string(text); script {
			texts[name] = strings.Join(comment.FindAllString(string(text), -1), "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 300 {
		t.Errorf("%d texts, the walk has missed most", len(texts))
	}
}
