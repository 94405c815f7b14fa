package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rhysd/actionlint"
	"github.com/yuin/goldmark/ast"
	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/internal/fake/consoletest"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/windows"
)

// A block is what stands between two fences of a document.
type block struct {
	place string // file:line of its first line
	text  string
}

// blocksOf are the blocks of all documents in a language. One that is quoted
// shows what the program writes, and is nothing for a reader to use.
func blocksOf(t *testing.T, language string) []block {
	t.Helper()
	var all []block
	for file, text := range documents(t) {
		walk(text, func(node ast.Node) {
			fenced, ok := node.(*ast.FencedCodeBlock)
			if !ok || string(fenced.Language([]byte(text))) != language || node.Parent().Kind() == ast.KindBlockquote {
				return
			}
			lines := fenced.Lines()
			line := 1 + strings.Count(text[:lines.At(0).Start], "\n")
			all = append(all, block{fmt.Sprintf("%s:%d", file, line), string(lines.Value([]byte(text)))})
		})
	}
	return all
}

// TestDocumentedYAML reads every YAML block, and has actionlint read those that
// are steps of a workflow: as a job, in a workflow that has only this one.
func TestDocumentedYAML(t *testing.T) {
	t.Parallel()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := blocksOf(t, "yaml")
	steps := 0
	for _, b := range all {
		var value any
		if err := yaml.Unmarshal([]byte(b.text), &value); err != nil {
			t.Errorf("%s: %v", b.place, err)
		}
		if !strings.Contains(b.text, "uses: ") {
			continue
		}
		steps++
		workflow := "on: push\njobs:\n  job:\n    runs-on: ubuntu-latest\n    steps:\n" + indented(b.text, "      ")
		problems, err := linter.Lint(b.place, []byte(workflow), nil)
		if err != nil {
			t.Errorf("%s: %v", b.place, err)
		}
		for _, problem := range problems {
			t.Errorf("%s: %s", b.place, problem.Message)
		}
		for _, wrong := range wrongInputs(t, []byte(workflow)) {
			t.Errorf("%s: %s", b.place, wrong)
		}
	}
	if len(all) < 4 || steps < 2 {
		t.Errorf("%d YAML blocks, %d of them steps", len(all), steps)
	}
}

// TestDocumentedWindows reads the whole file of windows that docs/freezes.md
// shows.
func TestDocumentedWindows(t *testing.T) {
	t.Parallel()
	for _, b := range blocksOf(t, "yaml") {
		if !strings.HasPrefix(b.place, "docs/freezes.md:") {
			continue
		}
		schedule, err := windows.Parse([]byte(b.text))
		if err != nil {
			t.Fatalf("%s: %v", b.place, err)
		}
		christmas := time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC)
		if state := schedule.At(christmas, "checkout", windows.Environment{Own: []string{"production"}}); len(state.Closed) != 2 || state.Overridable() {
			t.Errorf("%s: at Christmas it is closed by %v", b.place, state.Closed)
		}
		return
	}
	t.Error("docs/freezes.md shows no file")
}

func indented(text, indent string) string {
	return indent + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+indent) + "\n"
}

// wrongInputs are the inputs that a workflow gives our action and that
// action.yml does not have.
func wrongInputs(t *testing.T, workflow []byte) []string {
	t.Helper()
	var action struct{ Inputs map[string]any }
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	var wrong []string
	for _, name := range inputsUsed(t, workflow) {
		if _, known := action.Inputs[name]; !known {
			wrong = append(wrong, name+" is no input")
		}
	}
	return wrong
}

// TestDocumentedCommands has bash read every shell block, and the program its
// own command lines: with the secrets in the environment they are complete.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	all := blocksOf(t, "sh")
	commands := 0
	for _, b := range all {
		if _, err := shell(t, b.text, "-n"); err != nil {
			t.Errorf("%s: %v", b.place, err)
			continue
		}
		for _, line := range logicalLines(b.text) {
			words, ours := strings.CutPrefix(line, "knative-promote ")
			if !ours {
				continue
			}
			commands++
			out, err := shell(t, "printf '%s\\0' "+words)
			if err != nil {
				t.Errorf("%s: %v", b.place, err)
				continue
			}
			if err := accepted(strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")); err != nil {
				t.Errorf("%s: %s\n%v", b.place, line, err)
			}
		}
	}
	if len(all) < 6 || commands < 3 {
		t.Errorf("%d shell blocks, %d commands of the program", len(all), commands)
	}
}

// logicalLines are the lines of a script, each with those that continue it.
func logicalLines(text string) []string {
	return strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n")
}

// shell runs a script with bash, or has it only read with -n.
func shell(t *testing.T, script string, options ...string) (string, error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), "bash", options...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(script), &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("bash: %w: %s", err, stderr.String())
	}
	return stdout.String(), nil
}

// accepted has the program read a command line as users type it.
func accepted(args []string) error {
	getenv := consoletest.Environment("INPUT_TOKEN=git-secret", "ARGOCD_AUTH_TOKEN=argo-secret")
	w, err := console.ReadWorkflow(getenv)
	if err != nil {
		return err
	}
	_, err = inputs.Read(inputs.Parse(args), getenv, w, pipeline.File{})
	return err
}

// TestDocumentedTests looks that what `go test` and `go run` are told to do in
// the documents is there: the folder, and tests of that name.
func TestDocumentedTests(t *testing.T) {
	t.Parallel()
	known := testNames(t)
	lines := regexp.MustCompile("(?m)(?:^\\s*|`)(go (?:test|run) [^`\n]*)").FindAllStringSubmatch
	checked := 0
	for file, text := range documents(t) {
		for _, match := range lines(strings.ReplaceAll(text, "\\\n", " "), -1) {
			checked++
			if wrong := wrongTest(match[1], known); wrong != "" {
				t.Errorf("%s: %s: %s", file, match[1], wrong)
			}
		}
	}
	if checked < 8 {
		t.Errorf("%d lines with go test or go run", checked)
	}
}

// wrongTest says what a line asks for that is not there; empty: nothing.
func wrongTest(line string, known map[string]bool) string {
	folder, words := ".", strings.Fields(line)
	for i, word := range words {
		switch {
		case word == "-C":
			folder = words[i+1]
		case word == "-run" || word == "-fuzz":
			name, script, _ := strings.Cut(strings.Trim(words[i+1], "'^$"), "/")
			name = strings.Trim(name, "^$")
			matches := func(known string) bool { return strings.Contains(known, name) }
			if name != "xxx" && name != "NAME" && !slices.ContainsFunc(slices.Collect(maps.Keys(known)), matches) {
				return "there is no test " + name
			}
			if script = strings.Trim(script, "^$"); script != "" && script != "NAME" && !known[script] {
				return "there is no script " + script
			}
		case strings.HasPrefix(word, "./") && word != "./...":
			if _, err := os.Stat(filepath.Join(root, folder, word)); err != nil {
				return err.Error()
			}
		}
	}
	if _, err := os.Stat(filepath.Join(root, folder)); err != nil {
		return err.Error()
	}
	return ""
}
