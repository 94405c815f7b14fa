package check

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/jsonpointer"
)

// serviceRules are about the Knative Service that the overlay renders.
func serviceRules() []Rule {
	return slices.Concat([]Rule{
		rule("promotion-refused", findRefused), rule("analysis-template", findAnalysis),
		rule("service-refused", findInvalid), rule(ruleNotNormal, findNotNormal),
		rule("cluster-local", findClusterLocal), rule("revisions-not-listed", findUnlisted),
	}, templateRules(), trafficRules())
}

func findUnlisted(f Facts) []found {
	if f.Unlisted == "" {
		return nil
	}
	return []found{{values: values{"Revision": f.Unlisted}}}
}

// findRefused passes on what the promotion itself says.
func findRefused(f Facts) []found {
	all := findUnchangeable(f)
	if f.Refused == nil {
		return all
	}
	at := f.inKustomization()
	if _, target := foreignCandidate(f); target >= 0 {
		at = f.inService("spec", "traffic", target, "tag")
	} else if why := f.Refused.Error(); f.Overlay != nil && !hasTypes(f.Overlay) && fieldPath.MatchString(why) {
		at = f.inService(namedField(why)...)
	}
	return append(all, found{at: at, values: values{"Annotation": "", "Service": f.Request.Service, "Why": f.Refused, "Proposed": f.Before != nil}})
}

func findAnalysis(f Facts) []found {
	var all []found
	for _, err := range f.Analysis {
		all = append(all, found{values: values{"Why": err}})
	}
	return all
}

// hasTypes tells whether the rendered Service has the types of a Knative one.
// Without them no promotion can begin.
func hasTypes(overlay *knative.State) bool {
	_, err := overlay.Traffic()
	return err == nil
}

func findInvalid(f Facts) []found {
	if !hasTypes(f.Overlay) {
		return nil
	}
	refusal, proposed := f.Overlay.Refusal(), f.Before != nil
	if refusal == nil {
		return nil
	}
	return []found{{severity: errorIf(proposed), at: f.inService(namedField(refusal.Error())...), values: values{"Why": refusal, "Proposed": proposed}}}
}

var (
	fieldPath = regexp.MustCompile(`\bspec(?:\.[A-Za-z]+|\[\d+\]|\["[^"]+"\])+`)
	fieldStep = regexp.MustCompile(`[A-Za-z]+|\d+|"[^"]+"`)
)

// namedField is the last field that a message of Knative's validation names,
// such as spec.traffic[0].tag.
func namedField(message string) []any {
	all := fieldPath.FindAllString(message, -1)
	if len(all) == 0 {
		return []any{"spec"}
	}
	var steps []string
	for _, step := range fieldStep.FindAllString(all[len(all)-1], -1) {
		steps = append(steps, strings.Trim(step, `"`))
	}
	return numbered(steps)
}

func findNotNormal(f Facts) []found {
	var fields []string
	var changes []change
	known := false
	for _, r := range notNormal(f) {
		fields = append(fields, fieldEvidence(f, r))
		changes = append(changes, corrected(r))
		known = known || !r.Unknown()
	}
	if len(fields) == 0 {
		return nil
	}
	first := keys(changes[0].Path)
	certain := f.sync().status() == v1alpha1.SyncStatusCodeOutOfSync && comparesAll(f) && (known || f.sync().tried() && f.sync().comparedSince())
	return []found{{severity: errorIf(certain), at: f.inService(first...), values: values{
		"Field": readable(first), "More": len(fields) - 1, "Fields": fields, "Perhaps": !certain && !known, "Patch": f.patch(changes...),
	}}}
}

// notNormal are the fields of the Service that Argo CD takes for out of sync, as
// far as it does. Where they are asked for strictly, and where a change is
// proposed, those that no Service has are findUnknown's.
func notNormal(f Facts) []knative.Respelling {
	if f.Overlay == nil || f.sync().status() == v1alpha1.SyncStatusCodeSynced {
		return nil
	}
	all, err := knative.Respellings(f.Overlay)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(r knative.Respelling) bool {
		return r.Path == selector || serverSideDiff(f.Setup.App) && !r.Unknown() || overlooks(f, r.Path) || (f.Request.Strict || f.Before != nil) && r.Unknown()
	})
}

// corrected is the change that writes a field as Knative stores it.
func corrected(r knative.Respelling) change {
	if r.Stored == nil {
		return change{Op: "remove", Path: r.Path}
	}
	return change{Op: "replace", Path: r.Path, Value: r.Stored}
}

// fieldEvidence shows a field, but no value that could be a secret.
func fieldEvidence(f Facts, r knative.Respelling) string {
	steps := keys(r.Path)
	where := readable(steps)
	if at := f.inService(steps...); at.Line > 0 {
		where = fmt.Sprintf("%s:%d: %s", at.File, at.Line, where)
	}
	switch {
	case r.Empty:
		return where + " is empty in Git and left out in the cluster"
	case r.Stored == nil:
		return where + " is no field of a Knative Service, as far as is known here"
	}
	return fmt.Sprintf("%s is %s in Git and %s in the cluster", where, quoted(r.Git), quoted(r.Stored))
}

func quoted(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(value)
}

// overlooks tells whether Argo CD is told to ignore a field.
func overlooks(f Facts, field string) bool {
	return slices.ContainsFunc(ignored(f), func(i ignoring) bool { return i.covers(jsonpointer.Split(field)...) })
}

// comparesAll tells whether Argo CD certainly compares every other field, and
// as it is written.
func comparesAll(f Facts) bool {
	for key, override := range f.Setup.Overrides {
		group, kind, _ := strings.Cut(key, "/")
		if isService(group, kind) && len(override.KnownTypeFields) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(ignored(f), func(i ignoring) bool { return i.unclear || i.manager != "" })
}

// serverSideDiff tells whether the Application itself asks for it. Argo CD can
// also have it for all Applications, which the sync status shows.
func serverSideDiff(app *v1alpha1.Application) bool {
	return app != nil && annotated(app, compareOptions, "ServerSideDiff=true")
}
