package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/compare"
	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/setting"
)

// comparePatience is how long a round may take: the candidate keeps it waiting
// for as long as a request may last, and the old revision answers.
const comparePatience = requests.Limit + 2*time.Second

func compareKind() Kind {
	return Kind{
		Name: "compare", Passes: "the candidate answers the same requests as the old revision does", Asked: "with `compare`, at 0 %", Sends: "compare", Measures: true,
		Inputs: func(s *Settings) []setting.Row {
			return []setting.Row{{Name: "compare", Said: setting.Guard, Example: "/api/items status,latency<=1.5x,json count=20 ignore=generatedAt", Address: true, Value: setting.Bind(&s.Compare, compare.Parse),
				Usage: "paths to request on the candidate and on the old revision at 0 %, one a line, to compare `status` (the default), `latency<=FACTORx` or the fields of the `json`, " +
					"in `count=` rounds (default: 20), without the fields of `ignore=`"}}
		},
		Gate: func(s Settings, step Step, _ Templates) Gate { return s.compareGate(step) },
	}
}

// compareGate sends the same requests to the candidate and the old revision. It
// is asked at 0 % alone, where all requests to the Service's own URL still reach
// the old one. A first deployment has no such step.
func (s Settings) compareGate(step Step) Gate {
	if len(s.Compare) == 0 || step.Percent > 0 {
		return Gate{}
	}
	var patience time.Duration
	for _, q := range s.Compare {
		patience += time.Duration(q.Count+1) * comparePatience
	}
	return Gate{
		Routed:   true,
		Patience: patience,
		Check: func(ctx context.Context, ask Ask) Outcome {
			candidate, err := ask.candidateURL()
			if err != nil {
				return Outcome{Err: err}
			}
			old := ask.Observed.Service.Status.URL
			if old == nil {
				return Outcome{Err: errors.New("the live Service has no URL to ask the old revision at")}
			}
			client := s.Route.Open()
			defer client.Close()
			return said(comparing{client, old.String(), candidate, patience}.judge(ctx, s.Compare))
		},
	}
}

// comparing asks both revisions.
type comparing struct {
	client         *requests.Client
	old, candidate string // URLs
	patience       time.Duration
}

// judge asks all questions. Rounds that the time did not suffice for are
// missing, and too few are inconclusive.
func (c comparing) judge(ctx context.Context, questions []compare.Question) (string, error) {
	limited, stop := context.WithTimeoutCause(ctx, c.patience, fmt.Errorf("not all were answered within %s", c.patience))
	defer stop()
	var comparisons []*compare.Comparison
	var unsent error
	for _, q := range questions {
		comparison, err := c.rounds(limited, q)
		if err != nil && ctx.Err() != nil { // the run ends, which says nothing of the candidate
			return "", cutOff(fmt.Errorf("asking %s: %w", c.candidate, context.Cause(ctx)))
		}
		if comparison.Rounds() == 0 {
			return "", fmt.Errorf("could not be measured: no request could be sent to both revisions: %w", err)
		}
		comparisons = append(comparisons, comparison)
		if err != nil {
			unsent = err
		}
	}
	switch verdict := compare.Judge(comparisons); {
	case verdict.State == compare.Differ:
		return "", errors.New(verdict.Reason)
	case verdict.State == compare.Same:
		return verdict.Reason, nil
	case unsent != nil:
		return "", Inconclusive{fmt.Errorf("%s; the last request that could not be sent: %w", verdict.Reason, unsent)}
	default:
		return "", Inconclusive{errors.New(verdict.Reason)}
	}
}

// rounds asks one question, with the last error of a request that could not be
// sent. The first round makes the connections and starts what sleeps: it is not
// counted.
func (c comparing) rounds(ctx context.Context, q compare.Question) (*compare.Comparison, error) {
	comparison := compare.New(q)
	var unsent error
	for i := range q.Count + 1 {
		round, err := c.round(ctx, q.Path)
		switch {
		case err == nil && i > 0:
			comparison.Add(round)
		case err != nil:
			unsent = err
			if over := sleep.For(ctx, probePause); over != nil {
				return comparison, unsent
			}
		}
	}
	return comparison, unsent
}

// round sends the request three times. The candidate's stands in the middle, so
// that what drifts does not make it the odd one.
func (c comparing) round(ctx context.Context, path string) (compare.Round, error) {
	var answers [3]compare.Answer
	for i, url := range [3]string{c.old, c.candidate, c.old} {
		var body bytes.Buffer
		answer := c.client.Get(ctx, requests.Address(url, path), &body)
		if answer.Unsent != nil {
			return compare.Round{}, answer.Unsent
		}
		answers[i] = compare.Answer{Status: answer.Status, Broken: answer.Err != nil, Took: answer.Took, Body: body.Bytes()}
	}
	return compare.Round{Old: answers[0], Candidate: answers[1], OldAgain: answers[2]}, nil
}
