package report

import (
	"strings"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/event"
)

// A Status is what a forge shows beside a commit of the infra repository: how
// far the gates have come that were asked after it.
type Status struct {
	Commit      string
	Context     string // its name
	State       string // pending, success, failure or error, as GitHub and Gitea have them
	Description string // at most 140 bytes
	Found       bool   // the commit was there when the run began
}

// Stands tells whether the state that the commit of an earlier run has is still
// true: a run that asks its gates again takes no success away before one has failed.
func (s Status) Stands(there string) bool {
	return s.Found && (there == s.State || there == "success" && s.State != "failure")
}

// maxDescription is the longest that GitHub takes
// (https://docs.github.com/rest/commits/statuses#create-a-commit-status).
const maxDescription = 140

// Statuses are those of the commits of a run, in their order.
func Statuses(r event.Result) []Status {
	var all []Status
	for _, step := range r.Steps {
		if step.Commit == "" {
			continue
		}
		state, words := stateOf(r, step)
		all = append(all, Status{
			Commit: step.Commit, Context: StatusContext(r.Target), State: state,
			Description: oneline.Of(step.Name+": "+words, maxDescription-len("…")), Found: step.Resumed,
		})
	}
	return all
}

// StatusContext is the name of the statuses of a target.
func StatusContext(t event.Target) string {
	return strings.TrimSuffix("knative-promote/"+t.Service+"/"+t.Environment, "/")
}

func stateOf(r event.Result, step event.Step) (state, words string) {
	switch step.Progress {
	case event.Passed:
		return "success", "all gates have passed"
	case event.Broken:
		return "failure", brokenGate(step)
	}
	if r.Status != "" {
		return "error", "the run ended before its gates had, as " + string(r.Status)
	}
	return "pending", "its gates are asked"
}

// brokenGate is why a step has failed.
func brokenGate(step event.Step) string {
	for _, gate := range step.Gates {
		switch gate.Progress {
		case event.Broken:
			return "gate " + gate.Name + " failed: " + gate.Reason
		case event.Inconclusive:
			return "gate " + gate.Name + " was inconclusive: " + gate.Reason
		}
	}
	return "not seen live"
}
