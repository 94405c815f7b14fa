package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/robfig/cron/v3"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/event"
)

// windowRules are about the project's sync windows.
func windowRules() []Rule {
	return []Rule{rule("sync-window-closed", findClosed), rule("sync-window-closes", findClosing)}
}

// A window is one of the project's sync windows, with its schedule read.
type window struct {
	set      *v1alpha1.SyncWindow
	schedule cron.Schedule
	length   time.Duration
	zone     *time.Location
}

// syncWindows are the Application's; ok is false when the project was not read or
// one of them cannot be understood.
func syncWindows(setup argo.Setup) (all []window, ok bool) {
	if setup.Project == nil || setup.App == nil {
		return nil, false
	}
	assigned := setup.Project.Spec.SyncWindows.Matches(setup.App)
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
		case w.set.Kind == "deny" && active:
			denying = append(denying, w)
		case w.set.Kind == "allow" && active:
			allowed = true
		case w.set.Kind == "allow":
			waiting = append(waiting, w)
		}
	}
	forced := func(closing []window) bool {
		return byHand && !slices.ContainsFunc(closing, func(w window) bool { return !w.set.ManualSync })
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
func byHand(app *v1alpha1.Application) bool { return app != nil && !argo.Automated(app) }

// closed tells whether the windows are closed now. Argo CD's own answer counts
// where there is one.
func closed(f Facts, all []window, known bool) bool {
	if told := f.Setup.Windows; told != nil {
		if byHand(f.Setup.App) {
			return !told.GetCanSync()
		}
		return argo.Closed(told)
	}
	return known && !open(all, f.Request.Now, byHand(f.Setup.App))
}

func findClosed(f Facts) []found {
	all, known := syncWindows(f.Setup)
	if !closed(f, all, known) {
		return nil
	}
	what := found{values: values{
		"Opens": "", "Never": false, "Wait": f.Request.Wait, "Known": len(all) > 0, "Windows": windowEvidence(f, all),
		"ByHand": !byHand(f.Setup.App) && f.Setup.Windows.GetCanSync(), "Shut": shut(f.Setup, all, f.Request.Now),
	}}
	if !known || len(all) == 0 {
		return []found{what}
	}
	opens, ever := next(all, f.Request.Now, byHand(f.Setup.App), true)
	if ever {
		what.values["Opens"] = f.Request.when(opens)
	}
	if what.values["Never"] = !ever; !ever || opens.Sub(f.Request.Now) > f.Request.Wait {
		what.severity = event.SeverityError
	}
	return []found{what}
}

// shut are those windows, by their numbers in the project, that now keep people from syncing by hand too.
func shut(setup argo.Setup, all []window, now time.Time) (numbers []int) {
	if open(all, now, true) {
		return nil
	}
	for _, w := range all {
		if w.set.ManualSync || (w.set.Kind == "deny") != w.active(now) {
			continue
		}
		if i := slices.IndexFunc(setup.Project.Spec.SyncWindows, func(other *v1alpha1.SyncWindow) bool { return other == w.set }); i >= 0 {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

func findClosing(f Facts) []found {
	all, known := syncWindows(f.Setup)
	if !known || len(all) == 0 || closed(f, all, known) {
		return nil
	}
	closes, ever := next(all, f.Request.Now, byHand(f.Setup.App), false)
	if !ever || closes.Sub(f.Request.Now) >= f.Request.Worst {
		return nil
	}
	return []found{{values: values{"Closes": f.Request.when(closes), "Windows": windowEvidence(f, all), "Worst": f.Request.Worst}}}
}

// when is a time for people, and how far away it is.
func (r Request) when(at time.Time) string {
	return fmt.Sprintf("%s (in %s)", at.UTC().Format("2006-01-02 15:04 MST"), span(at.Sub(r.Now)))
}

// windowEvidence describes the windows that are known, or what the API server tells
// of them, which is without their time zones.
func windowEvidence(f Facts, all []window) []string {
	var lines []string
	for _, w := range all {
		line := fmt.Sprintf("%s from %q for %s, time zone %s", w.set.Kind, w.set.Schedule, w.set.Duration, w.zone)
		if w.set.ManualSync {
			line += ", manualSync"
		}
		if w.active(f.Request.Now) {
			line += ": active now"
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		return lines
	}
	for _, w := range f.Setup.Windows.GetAssignedWindows() {
		lines = append(lines, fmt.Sprintf("%s from %q for %s", w.GetKind(), w.GetSchedule(), w.GetDuration()))
	}
	return lines
}
