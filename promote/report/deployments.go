package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/event"
)

// A Deployment is what a forge shows of a promotion, or of what was restored by
// one or by a rollback: a commit in an environment, and how far it is.
type Deployment struct {
	Promotion   string // id
	Restores    bool   // it restores what was there
	Commit      string // of the infra repository: the first one of it
	Environment string
	Title       string // at most 140 bytes
	State       string // as GitHub has them: queued, in_progress, success, failure, error or inactive
	Description string // at most 140 bytes
	URL         string // of the Service, once all traffic is there
}

// Deployments are those of a run: its promotion, and what restores. A run that has
// nothing to change says how an earlier one ended, which may not have come to it.
func Deployments(r event.Result) []Deployment {
	var all []Deployment
	for _, restores := range []bool{false, true} {
		steps := slices.DeleteFunc(slices.Clone(r.Steps), func(s event.Step) bool { return s.RollsBack() != restores || s.Commit == "" })
		if len(steps) == 0 {
			continue
		}
		last := steps[len(steps)-1]
		if looksOnly(r, steps) || r.Status == event.Unchanged && (r.Promotion == "" || last.Progress != event.Passed) {
			continue
		}
		d := Deployment{
			Promotion: r.Promotion, Restores: restores, Commit: steps[0].Commit, Environment: environmentOf(r.Target),
			Title: short(steps[0].Title),
		}
		state, words := promotionState(r, last)
		if restores {
			state, words = restoreState(r, last)
		}
		d.State, d.Description = state, short(words)
		if state == "success" {
			d.URL = r.URL
		}
		all = append(all, d)
	}
	return all
}

// looksOnly tells whether the run has found these steps, made none of them, and
// come to no verdict: how far they are, an earlier run has said.
func looksOnly(r event.Result, steps []event.Step) bool {
	made := slices.ContainsFunc(steps, func(s event.Step) bool { return !s.Resumed })
	verdict := r.Status != "" && r.Status != event.Cancelled && r.Status != event.Failed
	return !made && !verdict && !failed(steps[len(steps)-1])
}

// environmentOf is the name of the target's environment on the forge: the
// Services of an infra repository are deployed apart from each other.
func environmentOf(t event.Target) string {
	return strings.Trim(t.Service+"/"+t.Environment, "/")
}

// promotionState is how far the promotion is whose last commit this step is.
// What is held, or proposed to people, is not over: it waits for a run that goes on.
func promotionState(r event.Result, last event.Step) (state, words string) {
	underWay := "in_progress"
	if last.Percent == 0 {
		underWay = "queued"
	}
	switch {
	case failed(last):
		return "failure", last.Name + ": " + brokenGate(last)
	case r.Status == "":
		return underWay, last.Name
	}
	end := r.Status.End()
	return cmp.Or(end.State, underWay), strings.ReplaceAll(end.Shown, "STEP", last.Name)
}

// failed tells whether a gate has failed, and not only could not tell.
func failed(step event.Step) bool {
	unclear := slices.ContainsFunc(step.Gates, func(g event.Gate) bool { return g.Progress == event.Inconclusive })
	broken := slices.ContainsFunc(step.Gates, func(g event.Gate) bool { return g.Progress == event.Broken })
	return step.Progress == event.Broken && (broken || !unclear)
}

// restoreState is how far what restores is.
func restoreState(r event.Result, last event.Step) (state, words string) {
	switch {
	case last.Progress == event.Passed:
		return "success", last.Name + ": what was there before is live again"
	case last.Progress == event.Broken:
		return "failure", last.Name + ": " + brokenGate(last)
	case r.Status == "":
		return "in_progress", last.Name
	}
	return "error", fmt.Sprintf("the run ended before %s was seen live, as %s", last.Name, r.Status)
}

func short(text string) string { return oneline.Of(text, maxDescription-len("…")) }
