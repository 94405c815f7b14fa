package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/setting"
)

// How the probe asks. A revision that was scaled to zero needs a while for its
// first answer.
const (
	probePatience = 30 * time.Second // for the consecutive good answers
	probePause    = 200 * time.Millisecond
)

func probeKind() Kind {
	return Kind{
		Name: "probe", Passes: "the candidate gives several good answers in a row at its own URL", Asked: "with `probe`, before the step bakes", Sends: "probe",
		Inputs: func(s *Settings) []setting.Row {
			return []setting.Row{
				{Name: "probe", Said: setting.Guard, Example: "/healthz expect=200", Address: true, Value: setting.Bind(&s.Probe, parseProbe(&s.Probe)),
					Usage: "path to request on the candidate's URL before each next step; `expect=` wants one status instead of any 2xx"},
				{Name: "probe-count", With: "probe", Said: setting.Guard, Of: []string{"probe"}, Stricter: pipeline.Higher(), Default: "3", Example: "5", Value: setting.Bind(&s.Probe.Count, setting.Count(1, 1000)),
					Usage: "how many consecutive good answers the probe needs"},
			}
		},
		Gate: func(s Settings, _ Step, _ Templates) Gate { return s.probeGate() },
	}
}

// parseProbe accepts a path with an optional expect=STATUS behind it, and
// keeps what other inputs have set.
func parseProbe(current *Probe) func(string) (Probe, error) {
	return func(text string) (Probe, error) {
		probe := *current
		fields := strings.Fields(text)
		if !setting.IsPath(fields[0]) {
			return Probe{}, errors.New("expected a path that starts with one slash, and expect=STATUS where another status than any 2xx is good")
		}
		probe.Path, probe.Expect = fields[0], 0
		var err error
		for _, field := range fields[1:] {
			if probe.Expect, err = parseExpect(field); err != nil {
				return Probe{}, err
			}
		}
		return probe, nil
	}
}

func parseExpect(text string) (int, error) {
	number, found := strings.CutPrefix(text, "expect=")
	status, err := strconv.Atoi(number)
	if !found || err != nil || status < 100 || status > 599 {
		return 0, fmt.Errorf("expected expect= with a status from 100 to 599 after the path, but there is %q", text)
	}
	return status, nil
}

// probeGate asks the candidate until it has answered well several times in a
// row.
func (s Settings) probeGate() Gate {
	if s.Probe.Path == "" {
		return Gate{}
	}
	return Gate{
		Patience: probePatience,
		Check: func(ctx context.Context, ask Ask) Outcome {
			url, err := ask.candidateURL()
			if err != nil {
				return Outcome{Err: err}
			}
			client := s.Route.Open()
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
