package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote"
)

func TestStatuses(t *testing.T) {
	t.Parallel()
	target := promote.Target{Target: argo.Target{Service: "web"}, Environment: "production"}
	const context = "knative-promote/web/production"
	broken := []promote.GateResult{{Name: "live", Progress: promote.Passed}, {Name: "slo", Progress: promote.Broken, Reason: strings.Repeat("ö ", 90)}}
	for name, test := range map[string]struct {
		run  promote.Result
		want []Status
	}{
		"under way": {
			promote.Result{Steps: []promote.StepResult{
				{Name: "candidate", Commit: "a", Progress: promote.Passed}, {Name: "100 %", Commit: "b", Progress: promote.Running}, {Name: "later", Progress: promote.Pending},
			}},
			[]Status{{Commit: "a", Context: context, State: "success", Description: "candidate: all gates have passed"}, {Commit: "b", Context: context, State: "pending", Description: "100 %: its gates are asked"}},
		},
		"rolled back": {
			promote.Result{Status: promote.RolledBack, Steps: []promote.StepResult{
				{Name: "candidate", Commit: "a", Progress: promote.Broken, Gates: broken}, {Name: "restore", Commit: "b", Progress: promote.Passed},
			}},
			[]Status{{Commit: "a", Context: context, State: "failure", Description: "candidate: gate slo failed: " + strings.Repeat("ö ", 35) + "ö…"}, {Commit: "b", Context: context, State: "success", Description: "restore: all gates have passed"}},
		},
		"a word that may be a secret is not cut in two": {
			promote.Result{Status: promote.RolledBack, Steps: []promote.StepResult{{Name: "10 %", Commit: "a", Progress: promote.Broken,
				Gates: []promote.GateResult{{Name: "slo", Progress: promote.Broken, Reason: "refused: " + strings.Repeat("s3cr3t", 30)}}}}},
			[]Status{{Commit: "a", Context: context, State: "failure", Description: "10 %: gate slo failed: refused:…"}},
		},
		"cancelled": {
			promote.Result{Status: promote.Cancelled, Steps: []promote.StepResult{{Name: "10 %", Commit: "a", Progress: promote.Skipped}}},
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
	of := func(progress promote.Progress) Status {
		run := promote.Result{Steps: []promote.StepResult{{Name: "10 %", Commit: "a", Progress: progress, Resumed: true}}}
		return Statuses(run)[0]
	}
	for _, test := range []struct {
		now   Status
		there string
		want  bool
	}{
		{of(promote.Passed), "success", true},
		{of(promote.Running), "success", true},
		{of(promote.Broken), "success", false},
		{of(promote.Broken), "failure", true},
		{of(promote.Running), "failure", false},
		{of(promote.Passed), "pending", false},
		{of(promote.Passed), "", false},
		{Status{State: "pending"}, "success", false},
	} {
		if got := test.now.Stands(test.there); got != test.want {
			t.Errorf("%s after %q: stands %t, want %t", test.now.State, test.there, got, test.want)
		}
	}
}
