package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote"
)

func TestDeployments(t *testing.T) {
	t.Parallel()
	gate := func(progress promote.Progress) []promote.GateResult {
		return []promote.GateResult{{Name: "live", Progress: promote.Passed}, {Name: "slo", Progress: progress, Reason: "why"}}
	}
	candidate := promote.StepResult{Name: "candidate", Commit: "a", Title: "web: candidate", Progress: promote.Passed}
	ten := func(progress promote.Progress, gates ...promote.GateResult) promote.StepResult {
		return promote.StepResult{Name: "10 %", Percent: 10, Commit: "b", Progress: progress, Gates: gates}
	}
	found := func(progress promote.Progress) promote.StepResult {
		return promote.StepResult{Name: "candidate", Commit: "a", Title: "web: candidate", Resumed: true, Progress: progress}
	}
	last := promote.StepResult{Name: "100 %", Percent: 100, Commit: "c", Progress: promote.Passed}
	later := promote.StepResult{Name: "100 %", Percent: 100, Progress: promote.Pending}
	restore := func(progress promote.Progress) promote.StepResult {
		return promote.StepResult{Name: "restore", Commit: "d", Title: "web: back", Progress: progress}
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
		status promote.Status
		steps  []promote.StepResult
		want   []Deployment
	}{
		"nothing is committed":                {"", []promote.StepResult{later}, nil},
		"nothing to do":                       {promote.Unchanged, []promote.StepResult{last}, []Deployment{unchanged}},
		"nothing to do, and not live":         {promote.Unchanged, []promote.StepResult{ten(promote.Running)}, nil},
		"is looked at":                        {"", []promote.StepResult{found(promote.Running), later}, nil},
		"was found, then Argo CD was away":    {promote.Failed, []promote.StepResult{found(promote.Skipped), later}, nil},
		"was found, and the run is cancelled": {promote.Cancelled, []promote.StepResult{found(promote.Skipped), later}, nil},
		"was found, and has failed":           {"", []promote.StepResult{found(promote.Broken)}, []Deployment{own("failure", "candidate: not seen live")}},
		"the candidate":                       {"", []promote.StepResult{candidate, later}, []Deployment{own("queued", "candidate")}},
		"10 %":                                {"", []promote.StepResult{candidate, ten(promote.Running), later}, []Deployment{own("in_progress", "10 %")}},
		"promoted":                            {promote.Promoted, []promote.StepResult{candidate, ten(promote.Passed), last}, []Deployment{at(own("success", "100 %: all gates have passed"))}},
		"held as steps ask":                   {promote.Held, []promote.StepResult{candidate, ten(promote.Passed)}, []Deployment{own("in_progress", "held at 10 %")}},
		"held at 0 %":                         {promote.Held, []promote.StepResult{candidate}, []Deployment{own("queued", "held at candidate")}},
		"proposed, and not waited for":        {promote.Proposed, []promote.StepResult{candidate, ten(promote.Passed), later}, []Deployment{own("in_progress", "10 %: the next step is proposed")}},
		"held, nobody can tell": {promote.Held, []promote.StepResult{candidate, ten(promote.Broken, gate(promote.Inconclusive)...)},
			[]Deployment{own("in_progress", "held at 10 %")}},
		"held, a gate has failed": {promote.Held, []promote.StepResult{candidate, ten(promote.Broken, gate(promote.Broken)...)},
			[]Deployment{own("failure", "10 %: gate slo failed: why")}},
		"is restored": {"", []promote.StepResult{candidate, ten(promote.Broken, gate(promote.Broken)...), restore(promote.Running)},
			[]Deployment{own("failure", "10 %: gate slo failed: why"), back("in_progress", "restore")}},
		"rolled back": {promote.RolledBack, []promote.StepResult{candidate, ten(promote.Broken, gate(promote.Broken)...), restore(promote.Passed)},
			[]Deployment{own("failure", "10 %: gate slo failed: why"), at(back("success", "restore: what was there before is live again"))}},
		"rolled back when it was cancelled": {promote.RolledBack, []promote.StepResult{candidate, ten(promote.Skipped), restore(promote.Passed)},
			[]Deployment{own("failure", "rolled back at 10 %"), at(back("success", "restore: what was there before is live again"))}},
		"the rollback failed": {promote.Failed, []promote.StepResult{candidate, ten(promote.Broken), restore(promote.Broken)},
			[]Deployment{own("failure", "10 %: not seen live"), back("failure", "restore: not seen live")}},
		"cancelled while it is restored": {promote.Cancelled, []promote.StepResult{candidate, ten(promote.Broken, gate(promote.Broken)...), restore(promote.Skipped)},
			[]Deployment{own("failure", "10 %: gate slo failed: why"), back("error", "the run ended before restore was seen live, as cancelled")}},
		"superseded": {promote.Superseded, []promote.StepResult{candidate, ten(promote.Skipped)}, []Deployment{own("inactive", "superseded at 10 %")}},
		"cancelled":  {promote.Cancelled, []promote.StepResult{candidate, ten(promote.Skipped)}, []Deployment{own("error", "the run ended at 10 %, as cancelled")}},
	} {
		run := promote.Result{
			Target: promote.Target{Target: argo.Target{Service: "web"}, Environment: "production"}, Promotion: "id", URL: "https://web.example.com",
			Status: test.status, Steps: test.steps,
		}
		if diff := cmp.Diff(test.want, Deployments(run)); diff != "" {
			t.Errorf("%s: deployments (-want +got):\n%s", name, diff)
		}
	}
}
