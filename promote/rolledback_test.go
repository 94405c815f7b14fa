package promote

import (
	"testing"
	"time"

	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// TestRolledBack says of a rollback without a name for where to whether it only
// confirms the commit that Git shows, or goes further.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	const run, other = "https://example.test/runs/1", "https://example.test/runs/2"
	live := &servingv1.Service{}
	live.Status.Conditions = append(live.Status.Conditions, apis.Condition{Type: apis.ConditionReady, Status: "True"})
	live.Status.Traffic = []servingv1.TrafficTarget{{RevisionName: "s-1", Percent: new(int64(100))}}
	for name, test := range map[string]struct {
		step    string
		passed  time.Time
		reached int
		run     string
		again   bool
		live    *servingv1.Service
		down    bool
		want    bool
	}{
		"a rollback that nobody has seen live":                   {step: record.Rollback, want: true},
		"one long ago":                                           {step: record.Rollback, passed: now.Add(-time.Hour)},
		"one just now, by somebody else":                         {step: record.Rollback, passed: now.Add(-time.Minute), run: other, want: true},
		"one just now, by a clock that is ahead":                 {step: record.Rollback, passed: now.Add(time.Minute), run: other, want: true},
		"our own, an attempt before":                             {step: record.Rollback, passed: now.Add(-time.Hour), run: run, again: true, want: true},
		"one whose revision is not Ready":                        {step: record.Rollback, passed: now.Add(-time.Minute), down: true},
		"one that nobody has seen live, with a revision that is": {step: record.Rollback, down: true},
		"a restore that is not live yet":                         {step: record.Restore, want: true},
		"a restore that is live, and nobody has noted that":      {step: record.Restore, live: live, want: true},
		"our own restore":                                        {step: record.Restore, run: run, live: live, want: true},
		"a restore that has just passed":                         {step: record.Restore, passed: now, reached: 50, live: live, want: true},
		"a restore of what no user has met":                      {step: record.Restore, passed: now, live: live},
		"our own restore, of what no user has met":               {step: record.Restore, passed: now.Add(-time.Hour), run: run, live: live, want: true},
		"a restore long ago":                                     {step: record.Restore, passed: now.Add(-time.Hour), reached: 50, live: live},
		"a promotion":                                            {step: "100"},
	} {
		at := plan.Situation{Target: ours(), Record: recordOf(test.step, "s-1", "s-2"), Live: test.live}
		if test.step == record.Rollback {
			at.Record = recordOf(test.step, "s-2", "s-1")
		}
		at.Record.Passed, at.Record.Run, at.Record.Reached = test.passed, test.run, test.reached
		if test.down {
			at.OldReadiness = plan.Readiness{Why: "is not Ready"}
		}
		c := Config{Settings: plan.Settings{RunURL: run}, RunAgain: test.again}
		if got := rolledBack(c, at, knative.Split{Stable: "s-1"}, now); got != test.want {
			t.Errorf("%s: confirmed is %t, want %t", name, got, test.want)
		}
	}
}
