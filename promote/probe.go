package promote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// How the probe asks. A revision that was scaled to zero needs a while for its
// first answer.
const (
	probePatience = 30 * time.Second // for the consecutive good answers
	probeRequest  = 10 * time.Second // for one answer
	probePause    = 200 * time.Millisecond
)

// probeGate asks the candidate until it has answered well several times in a
// row, and again while the step bakes.
func probeGate(c Config) Gate {
	if c.Probe.Path == "" {
		return Gate{}
	}
	check := func(ctx context.Context, at *Position) (string, error) {
		// At 100 % the candidate has no URL of its own any more, the Service's is asked.
		url, err := probeURL(at.Observed.Service, c.CandidateTag, at.Step.Percent)
		if err != nil {
			return "", err
		}
		return c.Probe.answers(ctx, strings.TrimSuffix(url, "/")+c.Probe.Path)
	}
	return Gate{
		Name:     "probe",
		Patience: probePatience,
		Check:    check,
		Holds: func(ctx context.Context, at *Position) error {
			_, err := check(ctx, at)
			return err
		},
	}
}

// answers asks until there were enough good answers in a row.
func (p Probe) answers(ctx context.Context, url string) (string, error) {
	patience, stop := context.WithTimeout(ctx, probePatience)
	defer stop()
	client := p.client()
	defer client.CloseIdleConnections()
	want := max(p.Count, 1)
	var last error
	for good := 0; ; {
		err := p.ask(patience, client, url)
		switch {
		case err == nil:
			if good++; good == want {
				return fmt.Sprintf("%d good answers from %s", want, url), nil
			}
		case patience.Err() == nil || last == nil: // the end of patience is no answer
			good, last = 0, err
		}
		if over := sleep(patience, probePause); over != nil {
			if ctx.Err() != nil { // the run ends, which says nothing of the candidate
				return "", fmt.Errorf("asking %s: %w", url, context.Cause(ctx))
			}
			if last == nil {
				last = over
			}
			return "", fmt.Errorf("%s: no %d good answers in a row in %s: %w", url, want, probePatience, last)
		}
	}
}

// probeURL is where the new revision answers, as Knative itself says.
func probeURL(service *servingv1.Service, tag string, percent int) (string, error) {
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

// ask makes one request. Redirects are answers, not followed.
func (p Probe) ask(ctx context.Context, client *http.Client, url string) error {
	ctx, stop := context.WithTimeout(ctx, probeRequest)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "knative-promote")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.CopyN(io.Discard, response.Body, 1<<20); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if p.Expect == response.StatusCode || p.Expect == 0 && response.StatusCode/100 == 2 {
		return nil
	}
	if p.Expect == 0 {
		return fmt.Errorf("answered %s instead of a 2xx status", response.Status)
	}
	return fmt.Errorf("answered %s instead of %d", response.Status, p.Expect)
}

// client connects to the URL's host, or to Connect in its stead.
func (p Probe) client() *http.Client {
	dialer := &net.Dialer{Timeout: probeRequest}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext}
	if p.Connect != "" {
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, p.Connect)
		}
	}
	var sender http.RoundTripper = transport
	if p.Around != nil {
		sender = p.Around(sender)
	}
	return &http.Client{
		Transport:     sender,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
