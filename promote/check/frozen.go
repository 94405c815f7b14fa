package check

import (
	"errors"
	"fmt"

	"github.com/acme/knative-promote/internal/strictyaml"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/windows"
)

// frozenRules are about the infra repository's own windows.
func frozenRules() []Rule { return []Rule{rule("frozen", findFrozen)} }

// Windows are those of the infra repository, as they are for the Service now.
// The zero Windows are of a repository that has none.
type Windows struct {
	File       string        // empty: there is none
	State      windows.State // now
	Unreadable error         // why the file cannot be read, which counts as frozen
}

func findFrozen(f Facts) []found {
	w := f.Windows
	v := values{"Unreadable": w.Unreadable, "Causes": nil, "For": f.Request.inEnvironment(), "Change": "", "Soon": false, "Worst": f.Request.Worst, "Overridable": w.State.Overridable()}
	if !w.State.Next.IsZero() {
		v["Change"] = fmt.Sprintf("%s (in %s)", windows.Format(w.State.Next), span(w.State.Next.Sub(f.Request.Now))) // in their time zone
	}
	what := found{at: place{File: w.File}, values: v}
	switch {
	case w.File == "":
		return nil
	case w.Unreadable != nil:
		what.at, what.severity = unreadable(w.File, w.Unreadable), event.SeverityError
	case !w.State.Open():
		var causes []string
		for _, c := range w.State.Closed {
			causes = append(causes, c.String())
		}
		what.at.Line, what.severity, v["Causes"] = w.State.Closed[0].Line, event.SeverityWarning, causes
	case w.State.Next.IsZero():
		return nil
	case w.State.Next.Sub(f.Request.Now) < f.Request.Worst:
		what.severity, v["Soon"] = event.SeverityWarning, true
	}
	return []found{what}
}

// unreadable is where a file cannot be read that promotions go by.
func unreadable(file string, why error) place {
	if at, known := errors.AsType[*strictyaml.Error](why); known {
		return place{file, at.Line}
	}
	return place{File: file}
}

// inEnvironment is the Service with its environment, which windows are for.
func (r Request) inEnvironment() string {
	if r.Environment == "" {
		return r.Service
	}
	return r.Service + " in " + r.Environment
}
