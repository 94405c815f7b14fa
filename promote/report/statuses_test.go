package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/event"
)

func TestStatuses(t *testing.T) {
	t.Parallel()
	target := event.Target{Service: "web", Environment: "production"}
	const context = "knative-promote/web/production"
	broken := []event.Gate{{Name: "live", Progress: event.Passed}, {Name: "slo", Progress: event.Broken, Reason: strings.Repeat("ö ", 90)}}
	for name, test := range map[string]struct {
		run  event.Result
		want []Status
	}{
		"under way": {
			event.Result{Steps: []event.Step{
				{Name: "candidate", Commit: "a", Progress: event.Passed}, {Name: "100 %", Commit: "b", Progress: event.Running}, {Name: "later", Progress: event.Pending},
			}},
			[]Status{{Commit: "a", Context: context, State: "success", Description: "candidate: all gates have passed"}, {Commit: "b", Context: context, State: "pending", Description: "100 %: its gates are asked"}},
		},
		"rolled back": {
			event.Result{Status: event.RolledBack, Steps: []event.Step{
				{Name: "candidate", Commit: "a", Progress: event.Broken, Gates: broken}, {Name: "restore", Commit: "b", Progress: event.Passed},
			}},
			[]Status{{Commit: "a", Context: context, State: "failure", Description: "candidate: gate slo failed: " + strings.Repeat("ö ", 35) + "ö…"}, {Commit: "b", Context: context, State: "success", Description: "restore: all gates have passed"}},
		},
		"a word that may be a secret is not cut in two": {
			event.Result{Status: event.RolledBack, Steps: []event.Step{{Name: "10 %", Commit: "a", Progress: event.Broken,
				Gates: []event.Gate{{Name: "slo", Progress: event.Broken, Reason: "refused: " + strings.Repeat("s3cr3t", 30)}}}}},
			[]Status{{Commit: "a", Context: context, State: "failure", Description: "10 %: gate slo failed: refused:…"}},
		},
		"cancelled": {
			event.Result{Status: event.Cancelled, Steps: []event.Step{{Name: "10 %", Commit: "a", Progress: event.Skipped}}},
			[]Status{{Commit: "a", Context: context, State: "error", Description: "10 %: the run ended before its gates had, as cancelled"}},
		},
	} {
		test.run.Target = target
		got := Statuses(test.run)
		for _, s := range got {
			if len(s.Description) > 140 {
				t.Errorf("%s: the description has %d bytes", name, len(s.Description))
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: statuses (-want +got):\n%s", name, diff)
		}
	}
}

// TestStatusStands: only a gate that has failed now takes a success away.
func TestStatusStands(t *testing.T) {
	t.Parallel()
	of := func(progress event.Progress) Status {
		run := event.Result{Steps: []event.Step{{Name: "10 %", Commit: "a", Progress: progress, Resumed: true}}}
		return Statuses(run)[0]
	}
	for _, test := range []struct {
		now   Status
		there string
		want  bool
	}{
		{of(event.Passed), "success", true},
		{of(event.Running), "success", true},
		{of(event.Broken), "success", false},
		{of(event.Broken), "failure", true},
		{of(event.Running), "failure", false},
		{of(event.Passed), "pending", false},
		{of(event.Passed), "", false},
		{Status{State: "pending"}, "success", false},
	} {
		if got := test.now.Stands(test.there); got != test.want {
			t.Errorf("%s after %q: stands %t, want %t", test.now.State, test.there, got, test.want)
		}
	}
}
