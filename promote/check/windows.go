package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/robfig/cron/v3"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/event"
)

// windowRules are about the project's sync windows.
func windowRules() []Rule {
	const link = "https://argo-cd.readthedocs.io/en/stable/user-guide/sync_windows/"
	return []Rule{
		{
			ID: "sync-window-closed", Severity: event.SeverityWarning, Find: findClosed, Link: link,
			Summary: "a sync window keeps Argo CD from syncing now",
		},
		{
			ID: "sync-window-closes", Severity: event.SeverityWarning, Find: findClosing, Link: link,
			Summary: "a sync window may close before the promotion ends",
		},
	}
}

// A window is one of the project's sync windows, with its schedule read.
type window struct {
	*v1alpha1.SyncWindow
	schedule cron.Schedule
	length   time.Duration
	zone     *time.Location
}

// windows are the Application's; ok is false when the project was not read or
// one of them cannot be understood.
func (f Facts) windows() (all []window, ok bool) {
	if f.Setup.Project == nil || f.Setup.App == nil {
		return nil, false
	}
	assigned := f.Setup.Project.Spec.SyncWindows.Matches(f.Setup.App)
	if assigned == nil {
		return nil, true
	}
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	for _, w := range *assigned {
		schedule, errS := parser.Parse(w.Schedule)
		length, errL := time.ParseDuration(w.Duration)
		zone, errZ := time.LoadLocation(w.TimeZone)
		if errS != nil || errL != nil {
			return nil, false
		}
		if errZ != nil {
			zone = time.UTC // as Argo CD does
		}
		all = append(all, window{w, schedule, length, zone})
	}
	return all, true
}

// active tells whether the window is on. One that never begins is, as Argo CD
// has it.
func (w window) active(at time.Time) bool {
	return !w.start(at.Add(-w.length)).After(at)
}

// start is when the window begins next after a time.
func (w window) start(after time.Time) time.Time { return w.schedule.Next(after.In(w.zone)) }

// open tells whether a sync may run: by Argo CD itself, or by hand, which
// windows with manualSync allow. It is Argo CD's SyncWindows.CanSync for any
// time (https://github.com/argoproj/argo-cd/blob/v2.14.21/pkg/apis/application/v1alpha1/types.go#L2772-L2806).
func open(all []window, at time.Time, byHand bool) bool {
	var denying, waiting []window
	allowed := false
	for _, w := range all {
		switch active := w.active(at); {
		case w.Kind == "deny" && active:
			denying = append(denying, w)
		case w.Kind == "allow" && active:
			allowed = true
		case w.Kind == "allow":
			waiting = append(waiting, w)
		}
	}
	forced := func(closing []window) bool {
		return byHand && !slices.ContainsFunc(closing, func(w window) bool { return !w.ManualSync })
	}
	switch {
	case len(denying) > 0:
		return forced(denying)
	case allowed || len(waiting) == 0:
		return true
	}
	return forced(waiting)
}

// changes bounds the search for the next change: a window that begins every
// minute has half a million beginnings in a year.
const changes = 1000

// next is when open becomes want, from a time on; ok is false when it does not,
// as far as one looked.
func next(all []window, from time.Time, byHand, want bool) (at time.Time, ok bool) {
	at = from
	for range changes {
		if open(all, at, byHand) == want {
			return at, true
		}
		var edges []time.Time
		for _, w := range all {
			edges = append(edges, w.start(at), w.start(at.Add(-w.length)).Add(w.length))
		}
		if at, ok = earliest(at, edges); !ok {
			break
		}
	}
	return at, false
}

// earliest is the first of some times that is after a given one.
func earliest(after time.Time, times []time.Time) (first time.Time, ok bool) {
	for _, t := range times {
		if t.After(after) && (!ok || t.Before(first)) {
			first, ok = t, true
		}
	}
	return first, ok
}

// byHand tells whether the tool syncs the Application itself, because Argo CD
// does not.
func (f Facts) byHand() bool { return f.Setup.App != nil && !f.automated() }

// closed tells whether the windows are closed now. Argo CD's own answer counts
// where there is one.
func (f Facts) closed(all []window, known bool) bool {
	if told := f.Setup.Windows; told != nil {
		if f.byHand() {
			return !told.GetCanSync()
		}
		return argo.Closed(told)
	}
	return known && !open(all, f.Request.Now, f.byHand())
}

func findClosed(f Facts) []event.Finding {
	all, known := f.windows()
	if f.Setup.App == nil || !f.closed(all, known) {
		return nil
	}
	opens, found := time.Time{}, false
	if known && len(all) > 0 {
		opens, found = next(all, f.Request.Now, f.byHand(), true)
	}
	finding := event.Finding{
		Problem: fmt.Sprintf("A sync window keeps Argo CD from syncing Application %s now", f.application()),
		Effect: fmt.Sprintf("Argo CD applies no commit of a promotion while it is closed, and none that rolls one back: the first gate waits %s for that and then fails.",
			span(f.Request.Wait)),
		Evidence: f.windowEvidence(all),
		Fix:      "Promote when the window is open. The project's windows:\nargocd proj windows list " + f.Setup.App.Spec.GetProject(),
	}
	switch {
	case found:
		finding.Problem += ", until " + f.when(opens)
		finding.Fix = "Promote after " + f.when(opens) + ". The project's windows:\nargocd proj windows list " + f.Setup.App.Spec.GetProject()
		if opens.Sub(f.Request.Now) > f.Request.Wait {
			finding.Severity = event.SeverityError
		}
	case known && len(all) > 0:
		finding.Severity = event.SeverityError
		finding.Problem += ", and none of the windows opens again"
	}
	if !f.byHand() && f.Setup.Windows.GetCanSync() {
		finding.Fix += "\nThe window's manualSync lets people sync by hand, and a rollback does; for the commits of a promotion, which Argo CD is to sync by itself, it changes nothing."
	}
	return []event.Finding{finding}
}

func findClosing(f Facts) []event.Finding {
	all, known := f.windows()
	if !known || len(all) == 0 || f.closed(all, known) {
		return nil
	}
	closes, found := next(all, f.Request.Now, f.byHand(), false)
	if !found || closes.Sub(f.Request.Now) >= f.Request.Worst {
		return nil
	}
	return []event.Finding{{
		Problem:  fmt.Sprintf("A sync window closes for Application %s at %s", f.application(), f.when(closes)),
		Effect:   "A promotion that takes longer stops in the middle of its steps, and its rollback waits until the window opens again.",
		Evidence: f.windowEvidence(all) + fmt.Sprintf("\nthe promotion and its rollback may take %s", span(f.Request.Worst)),
		Fix:      "Promote when more time is left, or with fewer or shorter steps. The project's windows:\nargocd proj windows list " + f.Setup.App.Spec.GetProject(),
	}}
}

// when is a time for people, and how far away it is.
func (f Facts) when(at time.Time) string {
	return fmt.Sprintf("%s (in %s)", at.UTC().Format("2006-01-02 15:04 MST"), span(at.Sub(f.Request.Now)))
}

func (f Facts) windowEvidence(all []window) string {
	var lines []string
	for _, w := range all {
		line := fmt.Sprintf("%s from %q for %s, time zone %s", w.Kind, w.Schedule, w.Duration, w.zone)
		if w.ManualSync {
			line += ", manualSync"
		}
		if w.active(f.Request.Now) {
			line += ": active now"
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		return "sync windows of project " + f.Setup.App.Spec.GetProject() + ":\n" + strings.Join(lines, "\n")
	}
	for _, w := range f.Setup.Windows.GetAssignedWindows() {
		lines = append(lines, fmt.Sprintf("%s from %q for %s", w.GetKind(), w.GetSchedule(), w.GetDuration()))
	}
	return "sync windows as the API server tells them, without their time zones:\n" + strings.Join(lines, "\n")
}
