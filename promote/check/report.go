package check

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// A Report is what was looked at and what was found there.
type Report struct {
	Service string `json:"service"`
	Overlay string `json:"overlay"`
	Commit  string `json:"commit"`

	// Before and After are the rendered manifests: what the overlay renders, and
	// what it would after a promotion, as far as that is known.
	Before []byte `json:"-"`
	After  []byte `json:"-"`

	// File is the overlay's kustomization: the place of findings that have none.
	File string `json:"-"`

	Looked   []string        `json:"looked-at"`
	Findings []event.Finding `json:"findings"`
}

// Examine asks every rule but the ones to skip about the facts.
func Examine(facts Facts, skip ...string) Report {
	r := Report{
		Service: facts.Request.Service, Overlay: facts.Request.Overlay, Commit: facts.Commit, File: facts.inKustomization().File,
		Looked: looked(facts), Findings: Run(facts, skip...),
	}
	if facts.Overlay != nil {
		r.Before, r.After = facts.Overlay.Manifest, facts.result().Manifest
	}
	return r
}

// looked lists what the facts are from.
func looked(f Facts) []string {
	var all []string
	add := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(f.Overlay != nil, "overlay %s at commit %.10s", f.Request.Overlay, f.Commit)
	add(f.Windows.File != "", "the windows in %s", f.Windows.File)
	if s := f.Setup; s.App != nil {
		add(true, "Application %s in project %s", f.Request.App, s.App.Spec.GetProject())
		add(s.Version != "", "Argo CD %s", s.Version)
		add(s.Project != nil, "the project's rules")
		add(s.Windows != nil, "sync windows")
		add(s.Overrides != nil, "resource customizations")
		add(s.Can != nil, "the Argo CD token's rights")
	}
	add(len(f.Request.Policies) > 0, "policies %s", strings.Join(f.Request.Policies, ", "))
	add(f.Service != nil, "live Service")
	add(len(f.Revisions) > 0, "%d revisions in the traffic", len(f.Revisions))
	add(f.PushAsked, "the right to push")
	return all
}

// JSON is the report for programs.
func (r Report) JSON() ([]byte, error) {
	r.Looked, r.Findings = append([]string{}, r.Looked...), append([]event.Finding{}, r.Findings...) // empty lists, not null
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// Text is the report for people, in lines of 100 columns.
func (r Report) Text() string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(f.Text() + "\n")
	}
	if len(r.Looked) > 0 {
		b.WriteString("Looked at:\n  " + strings.Join(r.Looked, "\n  ") + "\n\n")
	}
	b.WriteString(event.Tally(r.Findings) + "\n")
	return b.String()
}
