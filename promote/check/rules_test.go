package check

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/promote/event"
)

// TestRules asks the rule that a folder of testdata/rules is named after about
// every scene in it.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range scenes(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			got := inFull(ask(ruleOf(t, c), factsOf(t, c.Path)))
			golden.Compare(t, c.Path, map[string]string{"want": got}, "want")
		})
	}
}

// TestEveryRuleIsTried wants a scene in which a rule finds something and one
// in which it does not, for each.
func TestEveryRuleIsTried(t *testing.T) {
	t.Parallel()
	finds, silent := map[string]bool{}, map[string]bool{}
	for _, c := range scenes(t) {
		id := path.Dir(c.Name)
		if s := loadScene(t, c.Path); len(s["want"]) == 0 {
			silent[id] = true
		} else {
			finds[id] = true
		}
	}
	for _, rule := range Rules() {
		if !finds[rule.ID] || !silent[rule.ID] {
			t.Errorf("rule %s: expected a scene in testdata/rules/%s with a finding and one without", rule.ID, rule.ID)
		}
	}
}

// TestGood has a setup that no rule may complain about.
func TestGood(t *testing.T) {
	t.Parallel()
	facts := factsOf(t, "testdata/good.txtar")
	if findings := Run(facts); len(findings) > 0 {
		t.Errorf("found in the good setup:\n%s", inFull(findings))
	}
	if name, err := facts.Overlay.NextRevision(); err != nil || name != facts.Overlay.Revision() {
		t.Errorf("the good overlay names its revision %q, but its template asks for %q, %v", facts.Overlay.Revision(), name, err)
	}
}

// TestNothingRead has no facts at all: no rule may conclude anything, or panic.
func TestNothingRead(t *testing.T) {
	t.Parallel()
	if findings := Run(Facts{}); len(findings) > 0 {
		t.Errorf("found without any facts:\n%s", inFull(findings))
	}
}

// TestPartlyRead takes single facts out of every scene. Its rule may not count
// on one because another is there.
func TestPartlyRead(t *testing.T) {
	t.Parallel()
	for _, c := range scenes(t) {
		full := factsOf(t, c.Path)
		for name, drop := range map[string]func(*Facts){
			"application":     func(f *Facts) { f.Setup.App = nil },
			"project":         func(f *Facts) { f.Setup.Project = nil },
			"windows":         func(f *Facts) { f.Setup.Windows = nil },
			"overrides":       func(f *Facts) { f.Setup.Overrides = nil },
			"rights":          func(f *Facts) { f.Setup.Can = nil },
			"setup":           func(f *Facts) { f.Setup = argo.Setup{} },
			"service":         func(f *Facts) { f.Service = nil },
			"revisions":       func(f *Facts) { f.Revisions = nil },
			"tree":            func(f *Facts) { f.Tree = nil },
			"overlay":         func(f *Facts) { f.Overlay, f.Next = nil, nil },
			"next":            func(f *Facts) { f.Next = nil },
			"infra's windows": func(f *Facts) { f.Windows = Windows{} },
			"pipeline":        func(f *Facts) { f.Pipeline = Pipeline{} },
			"request":         func(f *Facts) { f.Request = Request{} },
		} {
			facts := full
			drop(&facts)
			for _, finding := range ask(ruleOf(t, c), facts) {
				if finding.Problem == "" || finding.Effect == "" {
					t.Errorf("%s without %s: an empty finding of %s", c.Path, name, finding.Rule)
				}
			}
		}
	}
}

// TestRulesAreWhole checks what people read of the rules.
func TestRulesAreWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules() {
		switch {
		case seen[r.ID]:
			t.Errorf("two rules are named %s", r.ID)
		case r.ID == "" || strings.Trim(r.ID, "abcdefghijklmnopqrstuvwxyz-") != "":
			t.Errorf("rule %q: expected a name in kebab case", r.ID)
		case r.Summary == "" || strings.HasSuffix(r.Summary, ".") || strings.Contains(r.Summary, "\n"):
			t.Errorf("rule %s: expected a summary of one line without a full stop, not %q", r.ID, r.Summary)
		case !strings.HasPrefix(r.Link, "https://"):
			t.Errorf("rule %s: expected an https link, not %q", r.ID, r.Link)
		}
		seen[r.ID] = true
	}
}

// ruleOf is the rule that a scene's folder is named after.
func ruleOf(t testing.TB, scene golden.Case) Rule {
	t.Helper()
	id := path.Dir(scene.Name)
	i := slices.IndexFunc(Rules(), func(r Rule) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("%s: there is no rule %q: the folder must have the name of one", scene.Path, id)
	}
	return Rules()[i]
}

// scenes are the archives of testdata/rules.
func scenes(t testing.TB) []golden.Case {
	t.Helper()
	return golden.Cases(t, "testdata/rules/*/*.txtar")
}

// inFull is every field of the findings.
func inFull(findings []event.Finding) string {
	var b strings.Builder
	for i, f := range findings {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %s\n", f.Severity, f.Problem)
		for _, part := range []struct{ name, text string }{
			{"effect", f.Effect}, {"evidence", f.Evidence}, {"fix", f.Fix}, {"link", f.Link},
		} {
			if part.text == "" {
				continue
			}
			fmt.Fprintf(&b, "  %s: %s\n", part.name, strings.ReplaceAll(strings.TrimSpace(part.text), "\n", "\n    "))
		}
		if f.File != "" {
			fmt.Fprintf(&b, "  at: %s:%d\n", f.File, f.Line)
		}
	}
	return b.String()
}
