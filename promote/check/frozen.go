package check

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/strictyaml"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/windows"
)

// frozenRules are about the infra repository's own windows.
func frozenRules() []Rule {
	return []Rule{rule("frozen", findFrozen), rule("windows-unknown-environment", findUnknownEnvironments)}
}

// Windows are those of the infra repository, as they are for the Service now.
// The zero Windows are of a repository that has none.
type Windows struct {
	File       string        // empty: there is none
	State      windows.State // now
	Unreadable error         // why the file cannot be read, which counts as frozen
	Named      []windows.Named
}

// findUnknownEnvironments looks for names that neither the pipeline file nor a folder of
// an overlay has.
func findUnknownEnvironments(f Facts) []found {
	known := append([]string{f.Request.Environment}, f.Pipeline.File.Environments...)
	isKnown := func(n windows.Named) bool { return slices.Contains(known, n.Environment) }
	unknown := slices.DeleteFunc(slices.Clone(f.Windows.Named), isKnown)
	if len(unknown) == 0 || f.Tree == nil {
		return nil
	}
	overlays, err := kustomize.Overlays(f.Tree, f.Pipeline.File.Deploys)
	if err != nil {
		return nil
	}
	for _, overlay := range overlays {
		known = append(known, path.Base(overlay))
	}
	slices.Sort(known)
	known = slices.DeleteFunc(slices.Compact(known), func(name string) bool { return name == "" })
	var all []found
	for _, n := range slices.DeleteFunc(unknown, isKnown) {
		all = append(all, found{at: place{f.Windows.File, n.Line}, values: values{"File": f.Windows.File, "Name": n.Environment, "Known": known}})
	}
	return all
}

func findFrozen(f Facts) []found {
	w, now := f.Windows, f.Request.Now
	var causes []string
	for _, c := range w.State.Closed {
		causes = append(causes, c.String())
	}
	v := values{
		"Unreadable": w.Unreadable, "Causes": causes, "Change": "", "Soon": w.State.Next.Sub(now) < f.Request.Worst,
		"For": f.Request.inEnvironment(), "Worst": f.Request.Worst, "Overridable": w.State.Overridable(),
	}
	if !w.State.Next.IsZero() {
		v["Change"] = fmt.Sprintf("%s (in %s)", windows.Format(w.State.Next), span(w.State.Next.Sub(now))) // in their time zone
	}
	switch {
	case w.File == "", w.Unreadable == nil && w.State.Open() && w.State.Next.IsZero():
		return nil
	case w.Unreadable != nil:
		return []found{{severity: event.SeverityError, at: unreadable(w.File, w.Unreadable), values: v}}
	case !w.State.Open():
		return []found{{severity: event.SeverityWarning, at: place{w.File, w.State.Closed[0].Line}, values: v}}
	}
	return []found{{severity: warningIf(v["Soon"] == true), at: place{File: w.File}, values: v}}
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
