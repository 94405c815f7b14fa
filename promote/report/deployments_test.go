package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/event"
)

func TestDeployments(t *testing.T) {
	t.Parallel()
	gate := func(progress event.Progress) []event.Gate {
		return []event.Gate{{Name: "live", Progress: event.Passed}, {Name: "slo", Progress: progress, Reason: "why"}}
	}
	candidate := event.Step{Name: "candidate", Commit: "a", Title: "web: candidate", Progress: event.Passed}
	ten := func(progress event.Progress, gates ...event.Gate) event.Step {
		return event.Step{Name: "10 %", Percent: 10, Commit: "b", Progress: progress, Gates: gates}
	}
	found := func(progress event.Progress) event.Step {
		return event.Step{Name: "candidate", Commit: "a", Title: "web: candidate", Resumed: true, Progress: progress}
	}
	last := event.Step{Name: "100 %", Percent: 100, Commit: "c", Progress: event.Passed}
	later := event.Step{Name: "100 %", Percent: 100, Progress: event.Pending}
	restore := func(progress event.Progress) event.Step {
		return event.Step{Name: "restore", Commit: "d", Title: "web: back", Progress: progress}
	}
	own := func(state, words string) Deployment {
		return Deployment{Promotion: "id", Commit: "a", Environment: "web/production", Title: "web: candidate", State: state, Description: words}
	}
	back := func(state, words string) Deployment {
		return Deployment{Promotion: "id", Restores: true, Commit: "d", Environment: "web/production", Title: "web: back", State: state, Description: words}
	}
	unchanged := Deployment{
		Promotion: "id", Commit: "c", Environment: "web/production", State: "success", Description: "100 %: all gates have passed", URL: "https://web.example.com",
	}
	at := func(d Deployment) Deployment { d.URL = "https://web.example.com"; return d }
	for name, test := range map[string]struct {
		status event.Status
		steps  []event.Step
		want   []Deployment
	}{
		"nothing is committed":                {"", []event.Step{later}, nil},
		"nothing to do":                       {event.Unchanged, []event.Step{last}, []Deployment{unchanged}},
		"nothing to do, and not live":         {event.Unchanged, []event.Step{ten(event.Running)}, nil},
		"is looked at":                        {"", []event.Step{found(event.Running), later}, nil},
		"was found, then Argo CD was away":    {event.Failed, []event.Step{found(event.Skipped), later}, nil},
		"was found, and the run is cancelled": {event.Cancelled, []event.Step{found(event.Skipped), later}, nil},
		"was found, and has failed":           {"", []event.Step{found(event.Broken)}, []Deployment{own("failure", "candidate: not seen live")}},
		"the candidate":                       {"", []event.Step{candidate, later}, []Deployment{own("queued", "candidate")}},
		"10 %":                                {"", []event.Step{candidate, ten(event.Running), later}, []Deployment{own("in_progress", "10 %")}},
		"promoted":                            {event.Promoted, []event.Step{candidate, ten(event.Passed), last}, []Deployment{at(own("success", "100 %: all gates have passed"))}},
		"held as steps ask":                   {event.Held, []event.Step{candidate, ten(event.Passed)}, []Deployment{own("in_progress", "held at 10 %")}},
		"held at 0 %":                         {event.Held, []event.Step{candidate}, []Deployment{own("queued", "held at candidate")}},
		"proposed, and not waited for":        {event.Proposed, []event.Step{candidate, ten(event.Passed), later}, []Deployment{own("in_progress", "10 %: the next step is proposed")}},
		"held, nobody can tell": {event.Held, []event.Step{candidate, ten(event.Broken, gate(event.Inconclusive)...)},
			[]Deployment{own("in_progress", "held at 10 %")}},
		"held, a gate has failed": {event.Held, []event.Step{candidate, ten(event.Broken, gate(event.Broken)...)},
			[]Deployment{own("failure", "10 %: gate slo failed: why")}},
		"is restored": {"", []event.Step{candidate, ten(event.Broken, gate(event.Broken)...), restore(event.Running)},
			[]Deployment{own("failure", "10 %: gate slo failed: why"), back("in_progress", "restore")}},
		"rolled back": {event.RolledBack, []event.Step{candidate, ten(event.Broken, gate(event.Broken)...), restore(event.Passed)},
			[]Deployment{own("failure", "10 %: gate slo failed: why"), at(back("success", "restore: what was there before is live again"))}},
		"rolled back when it was cancelled": {event.RolledBack, []event.Step{candidate, ten(event.Skipped), restore(event.Passed)},
			[]Deployment{own("failure", "rolled back at 10 %"), at(back("success", "restore: what was there before is live again"))}},
		"the rollback failed": {event.Failed, []event.Step{candidate, ten(event.Broken), restore(event.Broken)},
			[]Deployment{own("failure", "10 %: not seen live"), back("failure", "restore: not seen live")}},
		"cancelled while it is restored": {event.Cancelled, []event.Step{candidate, ten(event.Broken, gate(event.Broken)...), restore(event.Skipped)},
			[]Deployment{own("failure", "10 %: gate slo failed: why"), back("error", "the run ended before restore was seen live, as cancelled")}},
		"superseded": {event.Superseded, []event.Step{candidate, ten(event.Skipped)}, []Deployment{own("inactive", "superseded at 10 %")}},
		"cancelled":  {event.Cancelled, []event.Step{candidate, ten(event.Skipped)}, []Deployment{own("error", "the run ended at 10 %, as cancelled")}},
	} {
		run := event.Result{
			Target: event.Target{Service: "web", Environment: "production"}, Promotion: "id", URL: "https://web.example.com",
			Status: test.status, Steps: test.steps,
		}
		if diff := cmp.Diff(test.want, Deployments(run)); diff != "" {
			t.Errorf("%s: deployments (-want +got):\n%s", name, diff)
		}
	}
}
