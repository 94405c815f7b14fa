package check

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/xeipuuv/gojsonschema"

	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/promote/event"
)

// example has a finding of every shape that findings can have.
func example() Report {
	return Report{
		Service: "web", Overlay: "apps/web/overlays/production", Commit: "3f9c2d1e0b5a4d7c8e9f00112233445566778899",
		File:   "apps/web/overlays/production/kustomization.yaml",
		Looked: []string{"overlay apps/web/overlays/production at commit 3f9c2d1e0b", "Application web-production in project default", "the right to push"},
		Findings: []event.Finding{
			{
				Rule: "application-unreadable", Severity: event.SeverityError,
				Problem:  "Application web-production has something that is wrong and whose name is so long that the line has to be broken",
				Effect:   "Every promotion ends in its timeout. What was there before is restored, but nobody gets the new image.",
				Evidence: "spec:\n  of:\n    three: lines",
				Fix:      "Take it out:\nkubectl -n argocd edit application web-production",
				Link:     "https://example.com/why",
			},
			{
				Rule: "not-looked-at", Severity: event.SeverityWarning, Problem: "image web:latest [evil](https://evil.example.com) of 3 days", Effect: "Some.",
				File: "apps/web/base/a file.yaml", Line: 7,
			},
			{
				Rule: "not-looked-at", Severity: event.SeverityWarning, Problem: "image web:latest [evil](https://evil.example.com) of 4 days", Effect: "Same.",
				File: "apps/web/base/a file.yaml", Line: 9,
			},
			{Rule: "not-looked-at", Severity: event.SeverityInfo, Problem: "could not look at it", Effect: "None.", File: "apps/web/base/whole.yaml"},
		},
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	golden.File(t, "testdata/report/example.txt", example().Text())
	clean := example()
	clean.Findings = nil
	golden.File(t, "testdata/report/clean.txt", clean.Text())
}

func TestJSON(t *testing.T) {
	t.Parallel()
	text, err := example().JSON()
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/report/example.json", string(text))
	if text, err := (Report{}).JSON(); err != nil || !strings.Contains(string(text), `"findings": []`) {
		t.Errorf("without findings: %s, %v: expected an empty list", text, err)
	}
}

// TestSARIF holds the report to the schema of OASIS, and the results to what
// was seen before.
func TestSARIF(t *testing.T) {
	t.Parallel()
	text, err := example().SARIF("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	validSARIF(t, text)
	var log struct{ Runs []map[string]any }
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	// What changes with every rule is looked at in TestSARIFNamesRules.
	delete(log.Runs[0], "tool")
	for _, result := range log.Runs[0]["results"].([]any) {
		delete(result.(map[string]any), "ruleIndex")
	}
	rest, err := json.MarshalIndent(log.Runs[0], "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/report/example.sarif", string(rest)+"\n")
	empty, err := Report{}.SARIF("")
	if err != nil {
		t.Fatal(err)
	}
	validSARIF(t, empty)
}

func TestSARIFNamesRules(t *testing.T) {
	t.Parallel()
	text, err := example().SARIF("1.2.3")
	var log sarifLog
	if err := errors.Join(err, json.Unmarshal(text, &log)); err != nil {
		t.Fatal(err)
	}
	driver := log.Runs[0].Tool.Driver
	if len(driver.Rules) != len(Rules()) || driver.Version != "1.2.3" {
		t.Errorf("%d rules of %d, version %s", len(driver.Rules), len(Rules()), driver.Version)
	}
	for _, result := range log.Runs[0].Results {
		if got := driver.Rules[result.RuleIndex].ID; got != result.RuleID {
			t.Errorf("the index of %s leads to %s", result.RuleID, got)
		}
	}
}

// TestSARIFOfScenes writes all that the rules find anywhere.
func TestSARIFOfScenes(t *testing.T) {
	t.Parallel()
	r := example()
	for _, c := range scenes(t) {
		r.Findings = append(r.Findings, ask(ruleOf(t, c), factsOf(t, c.Path))...)
	}
	text, err := r.SARIF("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	validSARIF(t, text)
}

// validSARIF asks the schema.
func validSARIF(t *testing.T, text []byte) {
	t.Helper()
	result, err := gojsonschema.Validate(gojsonschema.NewStringLoader(schema(t)), gojsonschema.NewBytesLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range result.Errors() {
		t.Errorf("%s in\n%s", wrong, text)
	}
}

// schema is the constant of this name in go-sarif, which keeps it to itself.
// What its types make of a report is not what was written.
func schema(t *testing.T) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", reflect.TypeFor[sarif.Report]().PkgPath()).Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
			text, err = strconv.Unquote(literal.Value)
		}
		return err == nil
	})
	if err != nil || !strings.Contains(text, "SARIF") {
		t.Fatalf("the schema is %.100q, %v", text, err)
	}
	return text
}

// TestSchemaRefuses makes sure that the schema looks at something.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"version": "2.1.0"}`, `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"level": "info", "message": {"text": "x"}}]}]}`} {
		result, err := gojsonschema.Validate(gojsonschema.NewStringLoader(schema(t)), gojsonschema.NewStringLoader(text))
		if err != nil || result.Valid() {
			t.Errorf("%s is valid for the schema, %v", text, err)
		}
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	r, f := example(), example().Findings[1]
	same, moved := f, f
	same.Problem, same.Line = strings.ReplaceAll(f.Problem, "3", "12"), 30
	moved.File = "other.yaml"
	if r.fingerprint(f) != r.fingerprint(same) {
		t.Error("another line and another number of days make another fingerprint")
	}
	other := r
	other.Overlay = "apps/web/overlays/staging"
	if r.fingerprint(f) == r.fingerprint(moved) || r.fingerprint(f) == other.fingerprint(f) {
		t.Error("another place has the same fingerprint")
	}
}
