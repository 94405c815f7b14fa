package reporter

import (
	"slices"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/internal/repourl"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/event"
)

// Annotate shows findings on the run's page, and beside the files where they
// are in the workflow's own repository. No annotation is worse than most, and
// notes have none: Actions shows ten of a kind, and nothing is wrong there.
func Annotate(r *console.Console, findings []event.Finding, local bool, most event.Severity) {
	if !r.OnActions() { // the log has said it all
		return
	}
	for _, f := range findings {
		if f.Severity == event.SeverityInfo {
			continue
		}
		n := console.Note{Title: f.Rule, Text: f.Problem + "\n" + f.Effect}
		if f.Evidence != "" && !strings.Contains(f.Evidence, "\n") { // more than a line is for the log
			n.Text += "\nSeen: " + f.Evidence
		}
		if f.Fix != "" {
			n.Text += "\nTo fix it: " + f.Fix
		}
		if local {
			n.File, n.Line = f.File, f.Line
		}
		if min(f.Severity, most) == event.SeverityError {
			r.Error(n)
		} else {
			r.Warning(n)
		}
	}
}

// showPreflight shows what a promotion found before its first commit. Notes
// are for the command check: nothing is wrong there, and promotions are many.
func showPreflight(s inputs.Settings, r *console.Console, w console.Workflow, findings []event.Finding) {
	bad := slices.DeleteFunc(slices.Clone(findings), func(f event.Finding) bool { return f.Severity == event.SeverityInfo })
	if len(bad) == 0 {
		return
	}
	r.Group("Preflight: " + event.Tally(bad))
	for _, f := range bad {
		r.Printf("%s", f.Text())
	}
	r.EndGroup()
	most := event.SeverityError
	if s.Promote.Preflight == promote.PreflightWarn {
		most = event.SeverityWarning
	}
	Annotate(r, bad, Local(s, w), most)
}

// Local tells whether the infra repository is the one that the workflow is in.
func Local(s inputs.Settings, w console.Workflow) bool {
	return s.Checkout || w.Repository != "" && repourl.Same(s.Remote.URL, w.ServerURL+"/"+w.Repository)
}
