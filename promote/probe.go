package promote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

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
func probeGate(c Config) Gate {
	if c.Probe.Path == "" {
		return Gate{}
	}
	return Gate{
		Name:     "probe",
		Patience: probePatience,
		Check: func(ctx context.Context, at *Position) (string, error) {
			url, err := candidateURL(at.Observed.Service, c.CandidateTag, at.Step.Percent)
			if err != nil {
				return "", err
			}
			client := c.Way.Open()
			defer client.Close()
			return c.Probe.answers(ctx, client, requests.Address(url, c.Probe.Path))
		},
	}
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

// candidateURL is where the new revision answers, as Knative itself says. At
// 100 % it has no URL of its own any more, the Service's is asked.
func candidateURL(service *servingv1.Service, tag string, percent int) (string, error) {
	if service == nil {
		return "", errors.New("the live Service was not seen")
	}
	if percent == 100 && service.Status.URL != nil {
		return service.Status.URL.String(), nil
	}
	for _, t := range service.Status.Traffic {
		if t.Tag == tag && t.URL != nil {
			return t.URL.String(), nil
		}
	}
	return "", fmt.Errorf("the Service %s shows no URL for the tag %q", service.Name, tag)
}
