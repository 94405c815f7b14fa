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
			[]Status{{"a", context, "success", "candidate: all gates have passed"}, {"b", context, "pending", "100 %: its gates are asked"}},
		},
		"rolled back": {
			promote.Result{Status: promote.RolledBack, Steps: []promote.StepResult{
				{Name: "candidate", Commit: "a", Progress: promote.Broken, Gates: broken}, {Name: "restore", Commit: "b", Progress: promote.Passed},
			}},
			[]Status{{"a", context, "failure", "candidate: gate slo failed: " + strings.Repeat("ö ", 35) + "ö…"}, {"b", context, "success", "restore: all gates have passed"}},
		},
		"a word that may be a secret is not cut in two": {
			promote.Result{Status: promote.RolledBack, Steps: []promote.StepResult{{Name: "10 %", Commit: "a", Progress: promote.Broken,
				Gates: []promote.GateResult{{Name: "slo", Progress: promote.Broken, Reason: "refused: " + strings.Repeat("s3cr3t", 30)}}}}},
			[]Status{{"a", context, "failure", "10 %: gate slo failed: refused:…"}},
		},
		"cancelled": {
			promote.Result{Status: promote.Cancelled, Steps: []promote.StepResult{{Name: "10 %", Commit: "a", Progress: promote.Skipped}}},
			[]Status{{"a", context, "error", "10 %: the run ended before its gates had, as cancelled"}},
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
