package gate

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/acme/knative-promote/gitops/sleep"
	"github.com/acme/knative-promote/promote/requests"
)

// How the probe asks. A revision that was scaled to zero needs a while for its
// first answer.
const (
	probePatience = 30 * time.Second // for the consecutive good answers
	probePause    = 200 * time.Millisecond
)

// probeGate asks the candidate until it has answered well several times in a
// row.
func (s Settings) probeGate() Gate {
	if s.Probe.Path == "" {
		return Gate{}
	}
	return Gate{
		Name:     "probe",
		Patience: probePatience,
		Check: func(ctx context.Context, ask Ask) Outcome {
			url, err := ask.candidateURL()
			if err != nil {
				return Outcome{Err: err}
			}
			client := s.Way.Open()
			defer client.Close()
			return said(s.Probe.answers(ctx, client, requests.Address(url, s.Probe.Path)))
		},
	}
}

// A Probe is a request that the candidate must answer well several times in a
// row. The zero value probes nothing.
type Probe struct {
	Path   string // path and query, such as /healthz
	Expect int    // wanted HTTP status; 0 accepts any 2xx
	Count  int    // consecutive good answers needed
}

// answers asks until there were enough good answers in a row.
func (p Probe) answers(ctx context.Context, client *requests.Client, url string) (string, error) {
	patience, stop := context.WithTimeout(ctx, probePatience)
	defer stop()
	want := max(p.Count, 1)
	shown := requests.Shown(url)
	var last error
	for good := 0; ; {
		err := client.Get(patience, url, io.Discard).Fault(p.Expect)
		switch {
		case err == nil:
			if good++; good == want {
				return fmt.Sprintf("%d good answers from %s", want, shown), nil
			}
		case patience.Err() == nil || last == nil: // the end of patience is no answer
			good, last = 0, err
		}
		if over := sleep.For(patience, probePause); over != nil {
			if ctx.Err() != nil { // the run ends, which says nothing of the candidate
				return "", fmt.Errorf("asking %s: %w", shown, context.Cause(ctx))
			}
			if last == nil {
				last = over
			}
			return "", fmt.Errorf("%s: no %d good answers in a row in %s: %w", shown, want, probePatience, last)
		}
	}
}
