package check

import (
	"errors"
	"fmt"
	"strings"

	"github.com/acme/knative-promote/internal/strictyaml"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/windows"
)

// frozenRules are about the infra repository's own windows.
func frozenRules() []Rule {
	return []Rule{{
		ID: "frozen", Severity: event.SeverityInfo, Find: findFrozen, Link: "https://github.com/acme/knative-promote/blob/main/docs/freezes.md",
		Summary: "the infra repository's windows freeze promotions, now or next",
	}}
}

// Windows are those of the infra repository, as they are for the Service now.
// The zero Windows are of a repository that has none.
type Windows struct {
	File       string        // empty: there is none
	State      windows.State // now
	Unreadable error         // why the file cannot be read, which counts as frozen
}

func findFrozen(f Facts) []event.Finding {
	w := f.Windows
	switch {
	case w.File == "":
		return nil
	case w.Unreadable != nil:
		finding := unreadableFile(w.File, w.Unreadable)
		finding.Severity, finding.Fix = event.SeverityError, "Correct the file, or delete it where nothing is to be frozen."
		return []event.Finding{finding}
	case !w.State.Open():
		return []event.Finding{f.frozenNow()}
	case !w.State.Next.IsZero():
		return []event.Finding{f.frozenNext()}
	}
	return nil
}

// unreadableFile is the finding of a file that promotions go by.
func unreadableFile(file string, why error) event.Finding {
	finding := event.Finding{
		File:     file,
		Problem:  file + " cannot be read",
		Effect:   "Until it can be, no promotion begins, and one that is under way is held before its next commit.",
		Evidence: why.Error(),
		Fix:      "Correct the file.",
	}
	if at, found := errors.AsType[*strictyaml.Error](why); found {
		finding.Line = at.Line
	}
	return finding
}

func (f Facts) frozenNow() event.Finding {
	state := f.Windows.State
	finding := event.Finding{
		Severity: event.SeverityWarning, File: f.Windows.File, Line: state.Closed[0].Line,
		Problem: "Promotions of " + f.service() + " are frozen now",
		Effect:  "No promotion begins, and one that is under way is held before its next commit. A rollback is never frozen.",
		Fix:     "Promote when the file has changed.",
	}
	var causes []string
	for _, c := range state.Closed {
		causes = append(causes, c.String())
	}
	finding.Evidence = f.Windows.File + ": " + strings.Join(causes, "\n")
	if !state.Next.IsZero() {
		finding.Problem += ", until " + f.whenHere()
		finding.Fix = "Promote after " + f.whenHere() + "."
	}
	if state.Overridable() {
		finding.Fix += " The file lets a run override it: with override: freeze and a reason."
	}
	return finding
}

func (f Facts) frozenNext() event.Finding {
	finding := event.Finding{
		File:    f.Windows.File,
		Problem: "Promotions of " + f.service() + " are frozen next from " + f.whenHere() + " on",
		Effect:  "From then on no promotion begins, and one that is under way is held before its next commit.",
	}
	if f.Windows.State.Next.Sub(f.Request.Now) < f.Request.Worst {
		finding.Severity = event.SeverityWarning
		finding.Effect = "A promotion that begins now may be held between two steps: it may take " + span(f.Request.Worst) + "."
		finding.Fix = "Promote when more time is left, or with fewer or shorter steps."
	}
	return finding
}

// service is the Service with its environment, which windows are for.
func (f Facts) service() string {
	if f.Request.Environment == "" {
		return f.Request.Service
	}
	return f.Request.Service + " in " + f.Request.Environment
}

// whenHere is when the windows change, in their time zone, and how far away that is.
func (f Facts) whenHere() string {
	next := f.Windows.State.Next
	return fmt.Sprintf("%s (in %s)", windows.Format(next), span(next.Sub(f.Request.Now)))
}
