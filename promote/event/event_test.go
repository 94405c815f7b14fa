package event

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/promote/record"
)

// TestResultOfEvents makes the Result of a promotion that is held at its second step,
// and rolled back, and shows what the log says.
func TestResultOfEvents(t *testing.T) {
	t.Parallel()
	r := Result{Command: CommandPromote}
	var log []string
	var before Result
	for i, e := range []Event{
		Named{Target: Target{Service: "web", Environment: "production", Overlay: "apps/web/overlays/production", Application: "argocd/web"}},
		TakenFrom{Source: record.Source{Overlay: "apps/web/overlays/staging", Revision: "web-1a"}},
		Planned{Promotion: "id", Revision: "web-2b", PreviousRevision: "web-1a", RollbackTo: "web-1a", Steps: []Step{
			{Name: "10 %", Title: "web production: 10 %", Percent: 10, Progress: Pending, Resumed: true}, {Name: "50 %", Title: "web production: 50 %", Percent: 50, Progress: Pending},
			{Name: "100 %", Title: "web production: 100 %", Percent: 100, Progress: Pending},
		}},
		Found{},
		StepBegan{Step: 0},
		Committed{Step: 0, Commit: "0123456789abcdef", Resumed: true},
		GateAsked{Step: 0, Gate: "live"}, GateAsked{Step: 0, Gate: "probe"},
		GateAnswered{Step: 0, Index: 1, Gate: "probe", How: Passed, Reason: "3 good answers"}, GateAnswered{Step: 0, Gate: "live", How: Passed, Reason: "live"},
		StepPassed{Step: 0},
		Noted{Commit: "aaaaaaaaaaaaaaaa", Title: "10 % passed"},
		StepBegan{Step: 1},
		PullRequest{What: "the forge is away"}, PullRequest{Number: 7, URL: "https://forge/7", What: "open"},
		Seen{URL: "https://web", CandidateURL: "https://candidate-web"}, Seen{},
		StepFailed{Step: 1, Cause: "50 %: the push was refused"},
		StepsSkipped{},
		ReversalBegan{Name: record.Restore, Title: "web production: back to 1a"},
		Committed{Step: 3, Commit: "bbbbbbbbbbbbbbbb", Title: "web production: back to 1a"},
		ReversalUnseen{Step: 3},
		Warned{Text: "left out: previous"}, Warned{}, Explained{Text: "not seen live"},
		Told{Evidence: Evidence{Pod: "web-2b-0", Events: []string{"BackOff"}, Log: []string{"panic"}}},
		RollbackLeads{}, NoPodStarts{Revision: "web-1a", Further: "web-09"}, Ended{Status: Failed},
	} {
		if i == 12 {
			before = r.Clone()
		}
		log = append(log, e.Lines()...)
		r.Add(e, time.Date(2026, 1, 1, 12, i, 0, 0, time.UTC))
	}
	if before.Steps[0].Progress != Passed || before.Steps[1].Progress != Pending || before.Steps[0].Gates[0].Progress != Passed {
		t.Errorf("a copy has changed with what happened later: %+v", before.Steps)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/held.txt", strings.Join(log, "\n")+"\n\n"+string(text)+"\n")
}
