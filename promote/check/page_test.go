package check

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote/event"
)

// TestPages wants a page for every rule, and a rule for every page.
func TestPages(t *testing.T) {
	t.Parallel()
	all, err := pages()
	if err != nil {
		t.Error(err)
	}
	for _, r := range Rules() {
		if all[r.ID].Summary == "" {
			t.Errorf("rule %s has no page rules/%s.md", r.ID, r.ID)
		}
	}
	for id := range all {
		if !slices.ContainsFunc(Rules(), func(r Rule) bool { return r.ID == id }) {
			t.Errorf("the page rules/%s.md is no rule's", id)
		}
	}
}

// TestPagesSayIt has every page say every finding of its rule.
func TestPagesSayIt(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for _, c := range scenes(t) {
		rule, facts := ruleOf(t, c), loadScene(t, c.Path).facts(t)
		for _, what := range rule.findIn(facts) {
			said[path.Dir(c.Name)] = true
			if f, err := rule.finding(what, facts.common()); err != nil || strings.Contains(inFull([]event.Finding{f}), "<no value>") {
				t.Errorf("%s: %v, %+v", c.Path, err, f)
			}
		}
	}
	for _, rule := range Rules() {
		if !said[rule.ID] {
			t.Errorf("the page of %s says nothing in any scene", rule.ID)
		}
	}
}

// TestWrongPages has what no page may be.
func TestWrongPages(t *testing.T) {
	t.Parallel()
	const front = "---\nseverity: info\nsummary: it\nlink: https://example.com\n---\n\n"
	const body = "# it\n\n## Problem\n\nIt.\n\n## Effect\n\nNone.\n"
	if _, err := parsePage("it", []byte(front+body)); err != nil {
		t.Errorf("a page as it should be: %v", err)
	}
	for name, test := range map[string]struct{ page, want string }{
		"no front matter":       {body, "expected YAML between two lines ---"},
		"a key that is none":    {strings.Replace(front, "link", "url", 1) + body, "field url not found"},
		"a severity":            {strings.Replace(front, "info", "bad", 1) + body, `severity "bad"`},
		"a fact that is none":   {strings.Replace(front, "link", "needs: [nothing]\nlink", 1) + body, `there is no fact "nothing"`},
		"another name":          {front + strings.Replace(body, "# it", "# that", 1), "expected the heading # it"},
		"no effect":             {front + strings.Replace(body, "## Effect", "", 1), "there is no section Effect"},
		"a section too much":    {front + body + "\n## Cause\n\nThat.\n", "there is no section Cause of a finding"},
		"a section twice":       {front + body + "\n## Effect\n\nThat.\n", "two sections are named Effect"},
		"a broken template":     {front + body + "\n## Fix\n\n{{if .It}}Do it.\n", "unexpected EOF"},
		"a function that is no": {front + body + "\n## Fix\n\n{{lower .It}}\n", `function "lower" not defined`},
	} {
		if _, err := parsePage("it", []byte(test.page)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, expected %s", name, err, test.want)
		}
	}
}

// TestMissingValue has a page ask for a value that a rule does not find: the finding
// counts, and says so.
func TestMissingValue(t *testing.T) {
	t.Parallel()
	rule, err := parsePage("it", []byte("---\nseverity: error\n---\n\n# it\n\n## Problem\n\nIt is {{.It}}\n\n## Effect\n\nNone, {{.Service}}.\n"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := rule.finding(found{}, values{"Service": "web"})
	if err == nil || !strings.Contains(f.Problem, "It is (writing what rule it has found: ") || f.Effect != "None, web." || f.Severity != event.SeverityError {
		t.Errorf("%v, %+v", err, f)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	const markdown = "\nOne line\nand its rest.\n\nThe next:\n\n```yaml\na:\n  b: c\n\nd: e\n```\n\nThe last.\n"
	if got, want := plain(markdown), "One line and its rest.\nThe next:\na:\n  b: c\n\nd: e\nThe last."; got != want {
		t.Errorf("got %q, expected %q", got, want)
	}
}
