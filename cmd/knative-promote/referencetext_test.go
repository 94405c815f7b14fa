package main

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/acme/knative-promote/cmd/knative-promote/exit"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/setting"
)

func actionInputs(all []inputs.Input) string {
	var b strings.Builder
	b.WriteString("inputs:\n")
	for _, in := range all {
		fmt.Fprintf(&b, "  %s:\n    description: %q\n", in.Name, sentence(in))
		if text := cmp.Or(in.ActionDefault, in.Default); text != "" {
			fmt.Fprintf(&b, "    default: %q\n", text)
		}
	}
	return b.String()
}

func actionOutputs() string {
	var b strings.Builder
	b.WriteString("outputs:\n")
	for _, row := range outputTable() {
		fmt.Fprintf(&b, "  %s:\n    description: %q\n", row.Name, capital(row.Usage)+".")
	}
	return b.String()
}

func referenceInputs(groups []inputs.Group) string {
	var b strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&b, "\n### %s\n\n| Input | Default | |\n| --- | --- | --- |\n", g.Title)
		for _, in := range g.Inputs {
			text := cmp.Or(in.ActionDefault, in.Default)
			if text != "" {
				text = "`" + text + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s For example `%s`. |\n", in.Name, text, sentence(in), in.Example)
		}
	}
	return b.String() + "\n"
}

func referenceOutputs() string {
	var b strings.Builder
	b.WriteString("\n| Output | |\n| --- | --- |\n")
	for _, row := range outputTable() {
		fmt.Fprintf(&b, "| `%s` | %s. |\n", row.Name, capital(row.Usage))
	}
	return b.String() + "\n"
}

func referenceExits() string {
	var b strings.Builder
	b.WriteString("\n| Code | | |\n| --- | --- | --- |\n")
	for _, e := range exit.Table() {
		fmt.Fprintf(&b, "| %d | %s | %s. |\n", e.Code, e.Name, capital(e.Meaning))
	}
	return b.String() + "\n"
}

func referenceGates() string {
	var b strings.Builder
	b.WriteString("\n| Gate | Passes when | Asked |\n| --- | --- | --- |\n")
	for _, kind := range slices.Concat(gate.Kinds()...) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", kind.Name, kind.Passes, kind.Asked)
	}
	return b.String() + "\n"
}

func referenceRules() string {
	var b strings.Builder
	b.WriteString("\n| Rule | At least | Looks for |\n| --- | --- | --- |\n")
	for _, rule := range check.Rules() {
		fmt.Fprintf(&b, "| [`%s`](../promote/check/rules/%s.md) | %s | [%s](%s) |\n", rule.ID, rule.ID, rule.Severity, capital(rule.Summary), rule.Link)
	}
	return b.String() + "\n"
}

// referenceGuards are the inputs of which no value is stricter than the one that the file says.
func referenceGuards() string {
	var names []string
	for _, in := range inputs.All() {
		if in.Said == setting.Guard && reflect.ValueOf(in.Stricter).IsZero() {
			names = append(names, "`"+in.Name+"`")
		}
	}
	return "\n" + strings.Join(names, ", ") + "\n\n"
}

// readmeComment is a comment that package report is tested with, quoted, up to
// the manifests.
func readmeComment(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile(root + "/promote/report/testdata/comment/promoted.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range archive.Files {
		if file.Name != "comment.md" {
			continue
		}
		_, text, _ := strings.Cut(string(file.Data), "-->\n\n")
		text, _, _ = strings.Cut(text, "\n<details>")
		lines := strings.TrimSuffix("> "+strings.ReplaceAll(text, "\n", "\n> "), "> ")
		return strings.ReplaceAll(lines, "> \n", ">\n")
	}
	t.Fatal("the archive has no comment.md")
	return ""
}
