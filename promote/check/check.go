// Package check finds, before a promotion does, what would break it.
//
// A Rule looks at Facts for one trouble, such as an ignored /spec/traffic, and
// says what will happen, what shows it, and how to fix it. Facts are what Git
// and Argo CD told; gathering them is somebody else's work, so every rule is a
// pure function. Adding one is one more entry in the list of its file.
package check

import (
	"cmp"
	"fmt"
	"slices"
)

// A Severity says how bad a finding is.
type Severity int

// The severities. Only an error stops a promotion.
const (
	Info    Severity = iota // good to know, or a guide's advice explained
	Warning                 // breaks something at times, or later
	Error                   // the promotion will fail or do nothing
)

// String is the severity in lower case, as outputs show it.
func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// MarshalText gives JSON the severity as people read it.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Severity) UnmarshalText(text []byte) error {
	for *s = Info; *s <= Error; *s++ {
		if s.String() == string(text) {
			return nil
		}
	}
	return fmt.Errorf("severity %q: expected info, warning or error", text)
}

// A Rule looks for one trouble.
type Rule struct {
	ID       string   // in kebab case; stable, since people refer to it
	Severity Severity // of its findings, unless one says otherwise
	Summary  string   // what it looks for, one line
	Link     string   // the upstream document that explains it
	Find     func(Facts) []Finding
}

// A Finding is one trouble that a rule has found.
type Finding struct {
	Rule     string   `json:"rule"`               // the rule's ID
	Severity Severity `json:"severity"`           // the rule's, unless Find sets a higher one
	Problem  string   `json:"problem"`            // what is wrong, one line that names the object and the value
	Effect   string   `json:"effect"`             // what will happen, in one or two sentences
	Evidence string   `json:"evidence,omitempty"` // what was read and where, may have several lines
	Fix      string   `json:"fix,omitempty"`      // what to do: words, then a patch or a command to paste
	Link     string   `json:"link,omitempty"`     // the rule's, unless Find sets another
	File     string   `json:"file,omitempty"`     // of the infra repository, slash-separated; empty: none
	Line     int      `json:"line,omitempty"`     // in File, from 1; 0: the whole file
}

// Rules are all rules, in the order of their groups.
func Rules() []Rule {
	return slices.Concat(argocdRules(), applicationRules(), serviceRules(), overlayRules(), manifestRules(), accessRules(), branchRules(), frozenRules(), pipelineRules(), metricsRules(), unreadRules())
}

// Run asks every rule but the ones to skip and sorts the findings, the worst
// first.
func Run(facts Facts, skip ...string) []Finding { return run(Rules(), facts, skip) }

func run(rules []Rule, facts Facts, skip []string) []Finding {
	var all []Finding
	for _, rule := range rules {
		if !slices.Contains(skip, rule.ID) {
			all = append(all, ask(rule, facts)...)
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	return all
}

// ask runs one rule and completes its findings.
func ask(rule Rule, facts Facts) []Finding {
	findings := rule.Find(facts)
	for i := range findings {
		f := &findings[i]
		f.Rule = rule.ID
		f.Severity = max(f.Severity, rule.Severity)
		f.Link = cmp.Or(f.Link, rule.Link)
	}
	return findings
}

// Count counts the findings of a severity.
func Count(findings []Finding, severity Severity) int {
	n := 0
	for _, f := range findings {
		if f.Severity == severity {
			n++
		}
	}
	return n
}
