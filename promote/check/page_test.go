package check

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"text/template/parse"

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
		if content, err := pageFiles.ReadFile("rules/" + id + ".md"); err != nil || !strings.Contains(string(content), "\nseverity: ") {
			t.Errorf("rules/%s.md does not say the severity, %v", id, err)
		}
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
		rule, facts := ruleOf(t, c), factsOf(t, c.Path)
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

// TestPagesUseTheValues wants of the values that a rule finds in its scenes that the
// page uses each, and that it uses no others: not in a case either that no scene has.
func TestPagesUseTheValues(t *testing.T) {
	t.Parallel()
	given := map[string]values{}
	for _, c := range scenes(t) {
		rule, facts := ruleOf(t, c), factsOf(t, c.Path)
		if given[rule.ID] == nil {
			given[rule.ID] = values{}
		}
		for _, what := range rule.findIn(facts) {
			maps.Copy(given[rule.ID], what.values)
		}
	}
	common := Facts{}.common()
	common["File"], common["Line"] = "", 0
	for _, rule := range Rules() {
		used := map[string]bool{}
		for _, section := range rule.sections {
			addNames(section.Root, used)
		}
		for name := range used {
			if _, ok := given[rule.ID][name]; !ok && common[name] == nil {
				t.Errorf("the page of %s uses %s, which the rule does not find in any scene", rule.ID, name)
			}
		}
		for name := range given[rule.ID] {
			if !used[name] {
				t.Errorf("rule %s finds %s, which its page does not use", rule.ID, name)
			}
		}
	}
}

// addNames adds the values that a template uses. Below a with the names are those of
// the value's own fields.
func addNames(node parse.Node, used map[string]bool) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, below := range n.Nodes {
				addNames(below, used)
			}
		}
	case *parse.ActionNode:
		addNames(n.Pipe, used)
	case *parse.IfNode:
		addNames(n.Pipe, used)
		addNames(n.List, used)
		addNames(n.ElseList, used)
	case *parse.WithNode:
		addNames(n.Pipe, used)
		addNames(n.ElseList, used)
	case *parse.PipeNode:
		for _, command := range n.Cmds {
			for _, argument := range command.Args {
				addNames(argument, used)
			}
		}
	case *parse.FieldNode:
		used[n.Ident[0]] = true
	}
}

// TestWrongPages has what no page may be.
func TestWrongPages(t *testing.T) {
	t.Parallel()
	const front = "---\nseverity: info\nsummary: it\nlink: https://example.com\n---\n\n"
	const body = "# it\n\n## Problem\n\nIt.\n\n## Effect\n\nNone.\n\n## Evidence\n\nThis.\n\n## Fix\n\nThat.\n"
	if _, err := parsePage("it", []byte(front+body)); err != nil {
		t.Errorf("a page as it should be: %v", err)
	}
	for name, test := range map[string]struct{ page, want string }{
		"no front matter":       {body, "expected YAML between two lines ---"},
		"a key that is none":    {strings.Replace(front, "link", "url", 1) + body, "field url not found"},
		"a severity":            {strings.Replace(front, "info", "bad", 1) + body, `severity "bad"`},
		"a fact that is none":   {strings.Replace(front, "link", "needs: [nothing]\nlink", 1) + body, `there is no fact "nothing"`},
		"another name":          {front + strings.Replace(body, "# it", "# that", 1), "expected the heading # it"},
		"no effect":             {front + strings.Replace(body, "## Effect", "", 1), "expected the sections Problem, Effect, Evidence, Fix, not Problem, Evidence, Fix"},
		"a section too much":    {front + body + "\n## Cause\n\nThat.\n", "not Problem, Effect, Evidence, Fix, Cause"},
		"a section twice":       {front + body + "\n## Effect\n\nThat.\n", "not Problem, Effect, Evidence, Fix, Effect"},
		"a broken template":     {front + body + "\n{{if .It}}Do it.\n", "unexpected EOF"},
		"a function that is no": {front + body + "\n{{lower .It}}\n", `function "lower" not defined`},
	} {
		if _, err := parsePage("it", []byte(test.page)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, expected %s", name, err, test.want)
		}
	}
}

// TestMissingValue has a page ask for a value that a rule does not find, and a rule
// without a page: the finding counts, and says so.
func TestMissingValue(t *testing.T) {
	t.Parallel()
	rule, err := parsePage("it", []byte("---\nseverity: error\n---\n\n# it\n\n## Problem\n\nIt is {{.It}}\n\n## Effect\n\nNone, {{.Service}}.\n\n## Evidence\n\nThis.\n\n## Fix\n\nThat.\n"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := rule.finding(found{}, values{"Service": "web"})
	if err == nil || !strings.Contains(f.Problem, "It is (writing what rule it has found: ") || f.Effect != "None, web." || f.Severity != event.SeverityError {
		t.Errorf("%v, %+v", err, f)
	}
	if f, err := (Rule{ID: "that"}).finding(found{severity: event.SeverityError}, nil); err == nil || !strings.Contains(f.Problem, "the rule has no page") || f.Severity != event.SeverityError {
		t.Errorf("without a page: %v, %+v", err, f)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	const markdown = "\nOne line\nand its rest.\n\nThe next:\n\n```yaml\na:\n  b: c\n\nd: e\n```\n\nThe last.\n"
	if got, want := plain(markdown), "One line and its rest.\nThe next:\na:\n  b: c\n\nd: e\nThe last."; got != want {
		t.Errorf("got %q, expected %q", got, want)
	}
}
