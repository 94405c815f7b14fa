package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/repourl"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/report"
)

// check looks for what would break a promotion and reports it.
func (t task) check(ctx context.Context) (promote.Result, error) {
	s, r := t.settings, t.console
	found, err := t.examined(ctx)
	if err == nil {
		err = writeFindings(s.Check, found, r)
	}
	if err != nil {
		return t.looked(ctx, err)
	}
	annotate(r, found.Findings, local(s, t.workflow), check.Error)
	if err := r.Summarize(report.CheckSummary(found)); err != nil {
		r.Warning(console.Note{Title: "Summary not written", Text: err.Error()})
	}
	result := promote.Result{
		Command: string(s.Command), Target: s.Target, Findings: append([]check.Finding{}, found.Findings...),
	}
	result.Service = found.Service
	result.Status, err = promote.Unchanged, verdict(s.Check, found.Findings)
	if err != nil {
		result.Status = promote.Failed
	}
	return result, err
}

// examined is what there is to find.
func (t task) examined(ctx context.Context) (check.Report, error) {
	on, err := t.connect()
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
func verdict(c inputs.CheckSettings, findings []check.Finding) error {
	switch {
	case c.FailOn == inputs.FailOnNever:
		return nil
	case check.Count(findings, check.Error) > 0:
		return &foundError{exitErrors, check.Tally(findings)}
	case check.Count(findings, check.Warning) > 0 && c.FailOn == inputs.FailOnWarning:
		return &foundError{exitWarnings, check.Tally(findings)}
	}
	return nil
}

// annotate shows findings on the run's page, and beside the files where they
// are in the workflow's own repository. No annotation is worse than most, and
// notes have none: Actions shows ten of a kind, and nothing is wrong there.
func annotate(r *console.Console, findings []check.Finding, local bool, most check.Severity) {
	if !r.OnActions() { // the log has said it all
		return
	}
	for _, f := range findings {
		if f.Severity == check.Info {
			continue
		}
		n := console.Note{Title: f.Rule, Text: f.Problem + "\n" + f.Effect}
		if f.Evidence != "" && !strings.Contains(f.Evidence, "\n") { // more than a line is for the log
			n.Text += "\nSeen: " + f.Evidence
		}
		if f.Fix != "" {
			n.Text += "\nTo mend it: " + f.Fix
		}
		if local {
			n.File, n.Line = f.File, f.Line
		}
		if min(f.Severity, most) == check.Error {
			r.Error(n)
		} else {
			r.Warning(n)
		}
	}
}

// showPreflight shows what a promotion found before its first commit. Notes
// are for the command check: nothing is wrong there, and promotions are many.
func showPreflight(s inputs.Settings, r *console.Console, w console.Workflow, findings []check.Finding) {
	bad := slices.DeleteFunc(slices.Clone(findings), func(f check.Finding) bool { return f.Severity == check.Info })
	if len(bad) == 0 {
		return
	}
	r.Group("Preflight: " + check.Tally(bad))
	for _, f := range bad {
		r.Printf("%s", f.Text())
	}
	r.EndGroup()
	most := check.Error
	if s.Promote.Preflight == promote.PreflightWarn {
		most = check.Warning
	}
	annotate(r, bad, local(s, w), most)
}

// local tells whether the infra repository is the one that the workflow is in.
func local(s inputs.Settings, w console.Workflow) bool {
	return s.Checkout || w.Repository != "" && repourl.Same(s.Remote.URL, w.ServerURL+"/"+w.Repository)
}

// checkedOut is the commit that the workflow has checked out.
type checkedOut struct{ folder string }

func (c checkedOut) Tip(ctx context.Context) (gitops.Snapshot, error) {
	tip, err := gitops.Checkout(ctx, c.folder)
	if err != nil {
		return tip, fmt.Errorf("without repository the checked-out commit is looked at (in a workflow, add actions/checkout before): %w", err)
	}
	return tip, nil
}

func (checkedOut) Publish(context.Context, gitops.Change) (gitops.Commit, error) {
	return gitops.Commit{}, errors.New("a checked-out commit is only looked at")
}
