package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/cmd/knative-promote/exit"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/promote/pipeline"
)

// TestReference keeps action.yml, docs/reference.md and --help equal to the
// tables, and README.md equal to what a comment really looks like.
func TestReference(t *testing.T) {
	t.Parallel()
	for _, part := range []struct{ file, mark, want string }{
		{root + "/action.yml", "# <inputs>\n|# </inputs>\n", actionInputs(inputs.All())},
		{root + "/action.yml", "# <outputs>\n|# </outputs>\n", actionOutputs()},
		{root + "/docs/reference.md", "<!-- inputs -->\n|<!-- /inputs -->\n", referenceInputs(inputs.Groups())},
		{root + "/docs/reference.md", "<!-- outputs -->\n|<!-- /outputs -->\n", referenceOutputs()},
		{root + "/docs/reference.md", "<!-- exit codes -->\n|<!-- /exit codes -->\n", referenceExits()},
		{root + "/docs/reference.md", "<!-- rules -->\n|<!-- /rules -->\n", referenceRules()},
		{root + "/docs/gates.md", "<!-- kinds -->\n|<!-- /kinds -->\n", referenceGates()},
		{root + "/docs/environments.md", "<!-- guards -->\n|<!-- /guards -->\n", referenceGuards()},
		{root + "/README.md", "<!-- comment -->\n|<!-- /comment -->\n", readmeComment(t)},
	} {
		begin, end, _ := strings.Cut(part.mark, "|")
		checkPart(t, part.file, begin, end, part.want)
	}
	golden.File(t, "testdata/usage.txt", usageText())
	schema, err := inputs.PipelineSchema()
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, root+"/docs/"+strings.TrimSuffix(pipeline.Name, ".yaml")+".schema.json", string(schema))
}

// checkPart compares what stands between two marks of a file.
func checkPart(t *testing.T, file, begin, end, want string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s: no %q behind %q", file, end, begin)
	}
	golden.File(t, file, before+begin+want+end+after)
}

// TestExitCodesExplained looks that people find what to do about every exit
// code.
func TestExitCodesExplained(t *testing.T) {
	t.Parallel()
	all := documents(t)
	for _, e := range exit.Table() {
		name := fmt.Sprintf("%d %s", e.Code, e.Name)
		if !strings.Contains(all["docs/troubleshooting.md"], "\n## "+name+"\n") {
			t.Errorf("docs/troubleshooting.md has no section %q", name)
		}
		if !strings.Contains(all["README.md"], name) && e.Code != exit.OK {
			t.Errorf("README.md does not say what to do about %q", name)
		}
	}
}

// sentence is what people read of an input.
func sentence(in inputs.Input) string {
	text := capital(in.Usage)
	if len(in.Required) > 0 {
		text += " (required for " + inputs.Names(in.Required) + ")"
	}
	if in.Secret {
		text += "; a secret, so it is never a flag"
	}
	if in.Env != "" {
		text += "; also read from `" + in.Env + "`"
	}
	return text + "."
}

// capital begins a sentence with a capital letter, unless its first word is no
// plain one: an identifier has a spelling of its own.
func capital(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if !regexp.MustCompile(`^[a-z]+[,:]?$`).MatchString(word) {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// TestExamplesNameRealInputs reads what actionlint cannot know of an action
// that is not in the same repository.
func TestExamplesNameRealInputs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../.github/examples/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("examples %v, error %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(inputsUsed(t, text)) == 0 {
			t.Errorf("%s does not use the action", file)
		}
		for _, wrong := range wrongInputs(t, text) {
			t.Errorf("%s: %s", file, wrong)
		}
	}
}

// TestDiffCanBeRequired wants the example of diff to run for every pull request to the branch, also one that led to
// another branch before: a check that is required waits for ever where its workflow does not start, and a file
// anywhere may matter.
func TestDiffCanBeRequired(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.github/examples/diff.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		On map[string]map[string]any
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"branches": []any{"main"}, "types": []any{"opened", "synchronize", "reopened", "edited"}}
	if diff := cmp.Diff(want, workflow.On["pull_request"]); diff != "" {
		t.Errorf("what it starts for (-want +got):\n%s", diff)
	}
}

// inputsUsed are the inputs that a workflow gives our action.
func inputsUsed(t *testing.T, text []byte) []string {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	var used []string
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			if !strings.HasPrefix(step.Uses, "acme/knative-promote@") {
				continue
			}
			for name := range step.With {
				used = append(used, name)
			}
		}
	}
	return used
}

// TestCapital begins a sentence, but leaves what has a spelling of its own.
func TestCapital(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"images to set, one per line":        "Images to set, one per line",
		"why, for the commit message":        "Why, for the commit message",
		"manifest-generate-paths leaves":     "manifest-generate-paths leaves",
		"knownTypeFields make Argo CD":       "knownTypeFields make Argo CD",
		"host[:port] of the API server":      "host[:port] of the API server",
		"`true` if this run pushed a commit": "`true` if this run pushed a commit",
		"/status and Knative's annotations":  "/status and Knative's annotations",
		"Argo CD does not sync by itself":    "Argo CD does not sync by itself",
		"for rollback: the revision":         "For rollback: the revision",
		"id":                                 "Id",
	} {
		if got := capital(text); got != want {
			t.Errorf("capital(%q) is %q, want %q", text, got, want)
		}
	}
}

// TestTables checks what every row must have.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, in := range inputs.All() {
		if in.Usage == "" || in.Example == "" || in.Value == nil || strings.HasSuffix(in.Usage, ".") {
			t.Errorf("input %s is not complete", in.Name)
		}
		if strings.Contains(in.Example, "${{") {
			continue
		}
		if err := in.Value.Set(in.Example); err != nil {
			t.Errorf("input %s: the example %q is bad: %v", in.Name, in.Example, err)
		}
	}
	codes := map[int]bool{2: true}
	for _, e := range exit.Table() {
		if codes[e.Code] || e.Name == "" || e.Meaning == "" {
			t.Errorf("exit code %d is used twice, or not complete", e.Code)
		}
		codes[e.Code] = true
	}
}
