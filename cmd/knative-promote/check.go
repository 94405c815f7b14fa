package main

import (
	"context"
	"fmt"
	"os"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/report"
)

// check looks for what would break a promotion and reports it.
func (t task) check(ctx context.Context) (event.Result, error) {
	s, r := t.settings, t.console
	found, err := t.examined(ctx)
	if err == nil {
		err = writeFindings(s.Check, found, r)
	}
	if err == nil {
		err = writeManifests(t, rendered{found.Overlay, found.Before, found.After})
	}
	if err != nil {
		return t.looked(ctx, err)
	}
	annotate(r, found.Findings, local(s, t.workflow), event.SeverityError)
	if err := r.Summarize(report.CheckSummary(found.Service, found.Findings, found.Looked)); err != nil {
		r.Warning(console.Note{Title: "Summary not written", Text: err.Error()})
	}
	result := event.Result{
		Command: s.Command, Target: promote.Named(s.Target), Findings: append([]event.Finding{}, found.Findings...),
	}
	result.Service = found.Service
	result.Status, err = event.Unchanged, verdict(s.Check, found.Findings)
	if err != nil {
		result.Status = event.Failed
	}
	return result, err
}

// examined is what there is to find.
func (t task) examined(ctx context.Context) (check.Report, error) {
	on, err := t.connect(nil)
	if err != nil {
		return check.Report{}, err
	}
	on.Reporter = newReporter(ctx, t.settings, t.workflow, t.console)
	reports, err := promote.Examine(ctx, t.settings.Promote, on)
	if err != nil {
		return check.Report{}, err
	}
	return reports[0], nil // the inputs name one target
}

// writeFindings writes the findings where people and programs want them: the log
// shows them as text unless the only output is for a program.
func writeFindings(c inputs.CheckSettings, found check.Report, r *console.Console) error {
	document, err := []byte(found.Text()), error(nil)
	switch c.Format {
	case inputs.FormatJSON:
		document, err = found.JSON()
	case inputs.FormatSARIF:
		document, err = found.SARIF(versionOf())
	}
	if err != nil {
		return err
	}
	if c.Output == "" {
		r.Printf("%s", document)
		return nil
	}
	r.Printf("%s", found.Text())
	if err := os.WriteFile(c.Output, []byte(r.Redact(string(document))), 0o644); err != nil {
		return fmt.Errorf("output: writing the findings: %w", err)
	}
	return nil
}

// A foundError is a check that ends badly.
type foundError struct {
	code int
	text string
}

func (e *foundError) Error() string { return e.text }

// verdict is nil unless something is as bad as the run may fail on.
func verdict(c inputs.CheckSettings, findings []event.Finding) error {
	switch {
	case c.FailOn == inputs.FailOnNever:
		return nil
	case event.Count(findings, event.SeverityError) > 0:
		return &foundError{exitErrors, event.Tally(findings)}
	case event.Count(findings, event.SeverityWarning) > 0 && c.FailOn == inputs.FailOnWarning:
		return &foundError{exitWarnings, event.Tally(findings)}
	}
	return nil
}
