package main

import (
	"context"
	"fmt"

	"github.com/acme/knative-promote/cmd/internal/version"
	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/exit"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/cmd/knative-promote/manifests"
	"github.com/acme/knative-promote/cmd/knative-promote/reporter"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/report"
)

// checkTarget looks for what would break a promotion and reports it.
func checkTarget(ctx context.Context, t task.Task) (event.Result, error) {
	s, r := t.Settings, t.Console
	found, err := examined(ctx, t)
	if err == nil {
		err = writeFindings(s.Check, found, r)
	}
	if err == nil {
		err = manifests.Write(r, s.Manifests, manifests.Rendered{Overlay: found.Overlay, Before: found.Before, After: found.After})
	}
	if err != nil {
		return t.Looked(ctx, err)
	}
	reporter.Annotate(r, found.Findings, reporter.Local(s, t.Workflow), event.SeverityError)
	if err := r.Summarize(report.CheckSummary(found.Service, found.Findings, found.Looked)); err != nil {
		r.Warning(console.Note{Title: "Summary not written", Text: err.Error()})
	}
	result := event.Result{
		Command: s.Command, Target: promote.Named(s.Target), Findings: append([]event.Finding{}, found.Findings...),
	}
	result.Service = found.Service
	result.Status, err = event.Unchanged, exit.Found(s.Check.FailOn, found.Findings)
	if err != nil {
		result.Status = event.Failed
	}
	return result, err
}

// examined is what there is to find.
func examined(ctx context.Context, t task.Task) (check.Report, error) {
	on, err := t.Connect(nil)
	if err != nil {
		return check.Report{}, err
	}
	on.Reporter = reporter.New(ctx, t.Settings, t.Workflow, t.Console)
	reports, err := promote.Examine(ctx, t.Settings.Promote, on)
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
		document, err = found.SARIF(version.Of())
	}
	if err != nil {
		return err
	}
	if c.Output == "" {
		r.Printf("%s", document)
		return nil
	}
	r.Printf("%s", found.Text())
	root, name, err := console.Root(c.Output)
	if err == nil {
		defer root.Close()
		err = root.WriteFile(name, []byte(r.Redact(string(document))), 0o644)
	}
	if err != nil {
		return fmt.Errorf("output: writing the findings to %q: %w", c.Output, console.Escaped(err))
	}
	return nil
}
