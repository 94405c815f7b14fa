package check

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/promote/event"
)

//go:embed rules/*.md
var pageFiles embed.FS

// pages are the rules as their pages have them, by their names, without the
// functions that find something. The error names every page that is wrong.
var pages = sync.OnceValues(func() (map[string]Rule, error) {
	files, err := pageFiles.ReadDir("rules")
	all, wrong := map[string]Rule{}, []error{err}
	for _, file := range files {
		content, err := pageFiles.ReadFile(path.Join("rules", file.Name()))
		rule, parsed := parsePage(strings.TrimSuffix(file.Name(), ".md"), content)
		if err := errors.Join(err, parsed); err != nil {
			wrong = append(wrong, fmt.Errorf("reading the page of rule %s: %w", rule.ID, err))
		}
		all[rule.ID] = rule
	}
	return all, errors.Join(wrong...)
})

// rule is the rule of this name, by its page.
func rule(id string, find func(Facts) []found) Rule {
	all, _ := pages() // a test has seen that none is wrong
	r := all[id]
	r.ID, r.find = id, find
	return r
}

// parsePage reads the page of a rule: YAML between two lines ---, then Markdown
// with the heading # NAME and a section for each text of a finding.
func parsePage(id string, content []byte) (Rule, error) {
	r := Rule{ID: id, sections: map[string]*template.Template{}}
	front, body, closed := strings.Cut(strings.TrimPrefix(string(content), "---\n"), "\n---\n")
	if !closed {
		return r, errors.New("expected YAML between two lines ---")
	}
	decoder := yaml.NewDecoder(strings.NewReader(front))
	decoder.KnownFields(true)
	if err := decoder.Decode(&r); err != nil {
		return r, err
	}
	for _, need := range r.Needs {
		if _, known := (Facts{}).has(need); !known {
			return r, fmt.Errorf("needs: there is no fact %q", need)
		}
	}
	title, rest, _ := strings.Cut(strings.TrimSpace(body), "\n## ")
	if heading, _, _ := strings.Cut(title, "\n"); heading != "# "+id {
		return r, fmt.Errorf("expected the heading # %s", id)
	}
	return r, r.parseSections(strings.Split(rest, "\n## "))
}

// parseSections reads the sections, each of which begins with its name.
func (r Rule) parseSections(sections []string) error {
	functions := template.FuncMap{"count": count, "join": strings.Join, "lines": lines, "span": span}
	var names []string
	for _, section := range sections {
		name, text, _ := strings.Cut(section, "\n")
		t, err := template.New(name).Option("missingkey=error").Funcs(functions).Parse(plain(text))
		if err != nil {
			return err
		}
		names, r.sections[name] = append(names, name), t
	}
	if want := []string{"Problem", "Effect", "Evidence", "Fix"}; !slices.Equal(names, want) {
		return fmt.Errorf("expected the sections %s, not %s", strings.Join(want, ", "), strings.Join(names, ", "))
	}
	return nil
}

// plain is Markdown as a finding has it: a paragraph is one line, and of a block
// between ``` the lines stay as they are.
func plain(markdown string) string {
	var b strings.Builder
	between, verbatim := "", false
	for line := range strings.SplitSeq(strings.TrimSpace(markdown), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			verbatim = !verbatim
			if b.Len() > 0 {
				between = "\n"
			}
		case verbatim:
			b.WriteString(between + line)
			between = "\n"
		case line == "":
			between = "\n"
		default:
			b.WriteString(between + line)
			between = " "
		}
	}
	return b.String()
}

// values are what a page says a finding with, by the names that it has for them.
type values map[string]any

// found is one trouble as the function of a rule finds it, for the rule's page to
// say.
type found struct {
	values   values         // beside those that every page has, which these replace
	severity event.Severity // counts where it is worse than the rule's
	at       place          // where people correct it, as far as it is known
}

// errorIf is the severity of what is an error in this case.
func errorIf(is bool) event.Severity {
	if is {
		return event.SeverityError
	}
	return event.SeverityInfo
}

// warningIf is the severity of what is worth a warning in this case.
func warningIf(is bool) event.Severity {
	if is {
		return event.SeverityWarning
	}
	return event.SeverityInfo
}

// finding is what the page says of what was found. Where it cannot say it, which
// no test has seen, the finding has the reason in its texts and counts all the same.
func (r Rule) finding(what found, common values) (event.Finding, error) {
	f := event.Finding{Rule: r.ID, Severity: max(r.Severity, what.severity), Link: r.Link, File: what.at.File, Line: what.at.Line}
	all := values{"File": f.File, "Line": f.Line}
	maps.Copy(all, common)
	maps.Copy(all, what.values)
	errs := make([]error, 4)
	f.Problem, errs[0] = r.text("Problem", all)
	f.Effect, errs[1] = r.text("Effect", all)
	f.Evidence, errs[2] = r.text("Evidence", all)
	f.Fix, errs[3] = r.text("Fix", all)
	return f, errors.Join(errs...)
}

// text is what a section says, or why it cannot.
func (r Rule) text(section string, v values) (string, error) {
	var b strings.Builder
	err := errors.New("the rule has no page")
	if t := r.sections[section]; t != nil {
		err = t.Execute(&b, v)
	}
	if err != nil {
		err = fmt.Errorf("writing what rule %s has found: %w", r.ID, err)
		b.WriteString("(" + err.Error() + ")")
	}
	return b.String(), err
}
