// Package check finds, before a promotion does, what would break it.
//
// A Rule looks at Facts for one trouble, such as an ignored /spec/traffic. Its page
// in the folder rules says what will happen, what shows it, and how to fix it, by
// the values that its function finds. Facts are what Git and Argo CD told; gathering
// them is somebody else's work, so every rule is a pure function. Adding one is a
// page, a function and an entry in the list of its file.
package check

import (
	"cmp"
	"slices"
	"sync"
	"text/template"

	"github.com/acme/knative-promote/promote/event"
)

// A Rule looks for one trouble. All but what finds it is in its page, rules/NAME.md.
type Rule struct {
	ID       string         `yaml:"-"` // in kebab case; stable, since people refer to it
	Severity event.Severity // of its findings, unless one says otherwise
	Summary  string         // what it looks for, one line
	Link     string         // the upstream document that explains it
	Needs    []string       // the facts without which it is not asked

	sections map[string]*template.Template // the texts of a finding
	find     func(Facts) []found
}

// Rules are all rules, in the order of their groups.
func Rules() []Rule {
	return slices.Concat(argocdRules(), applicationRules(), serviceRules(), overlayRules(), manifestRules(), accessRules(), branchRules(), checkoutRules(), frozenRules(), pipelineRules(), recordRules(), metricsRules(), unreadRules())
}

// Run asks every rule but the ones to skip and sorts the findings, the worst
// first.
func Run(facts Facts, skip ...string) []event.Finding { return run(Rules(), facts, skip) }

func run(rules []Rule, facts Facts, skip []string) []event.Finding {
	facts.read = sync.OnceValue(func() files { return filesOf(facts) }) // thousands of findings may each look for their place
	var all []event.Finding
	for _, rule := range rules {
		if !slices.Contains(skip, rule.ID) {
			all = append(all, ask(rule, facts)...)
		}
	}
	slices.SortStableFunc(all, func(a, b event.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	return all
}

// ask runs one rule, where the facts are there that it needs.
func ask(rule Rule, facts Facts) []event.Finding {
	var findings []event.Finding
	for _, what := range rule.findIn(facts) {
		finding, _ := rule.finding(what, facts.common()) // a failure stands in its texts
		findings = append(findings, finding)
	}
	return findings
}

// findIn is what the rule finds in the facts; nothing where one is missing that it
// needs, or where its page, which says that, is not there.
func (r Rule) findIn(facts Facts) []found {
	if len(r.sections) == 0 {
		return nil
	}
	for _, need := range r.Needs {
		if there, _ := facts.has(need); !there {
			return nil
		}
	}
	return r.find(facts)
}

// Names of the rules that others ask whether they find anything, so as not to say the
// same twice.
const (
	ruleAnnotationsOwned = "server-side-apply-annotations"
	ruleImageOverridden  = "image-overridden"
	ruleMisfit           = "defaults-misfit"
	ruleNotNormal        = "service-not-normal"
	ruleOverridden       = "render-overridden"
	rulePorts            = "server-side-apply-ports"
	ruleProjectDenies    = "project-denies"
	ruleSelector         = "labels-in-selector"
	ruleTemplateChanged  = "template-changed"
)

// finds tells whether the rule of this name finds anything.
func (f Facts) finds(id string) bool {
	all := Rules()
	i := slices.IndexFunc(all, func(r Rule) bool { return r.ID == id })
	return i >= 0 && len(all[i].findIn(f)) > 0
}
