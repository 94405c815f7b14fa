// Package prometheus asks a Prometheus, or what speaks its HTTP API, for the
// value of a query. See
// https://prometheus.io/docs/prometheus/latest/querying/api/#expression-queries.
//
// It believes little: what is not a whole and well-formed answer of that API is
// an error, because a number that is missing must not be read as 0. client_golang
// reads it so, also where a sample is a native histogram, and keeps back what
// Prometheus says where the status is neither 400 nor 422.
package prometheus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/acme/knative-promote/internal/httpx"
	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/internal/redact"
)

// A Client asks one Prometheus. It is safe for concurrent use.
type Client struct {
	base      *url.URL
	header    http.Header
	transport http.RoundTripper
	timeout   time.Duration
	secrets   *redact.Secrets // that no error may show
}

// New checks the configuration. It asks nothing yet.
func New(config Config) (*Client, error) {
	base, err := config.base()
	if err != nil {
		return nil, err
	}
	transport, err := config.transport()
	if err != nil {
		return nil, err
	}
	client := &Client{base: base, header: config.header(base), transport: httpx.Whole{Next: transport}, timeout: config.timeout()}
	client.secrets = secrets(base, client.header)
	if config.Around != nil {
		client.transport = config.Around(client.transport)
	}
	return client, nil
}

// Query is the value of a query at one moment, the present by Prometheus' own clock
// where at is zero. The value of a range vector, such as up[5m], has a sample for
// each of its points. An error is one line, which may repeat the query and has no
// end: to be cut before it is shown.
func (c *Client) Query(ctx context.Context, query string, at time.Time) (Answer, error) {
	form := url.Values{"query": {query}}
	if !at.IsZero() {
		form.Set("time", seconds(at))
	}
	return c.ask(ctx, "query", form)
}

// A Range is the moments of a query: one each Step, from Start to End.
type Range struct {
	Start, End time.Time
	Step       time.Duration
}

// QueryRange are the values of a query over time, a sample for each of its moments.
func (c *Client) QueryRange(ctx context.Context, query string, over Range) (Answer, error) {
	return c.ask(ctx, "query_range", url.Values{"query": {query}, "start": {seconds(over.Start)}, "end": {seconds(over.End)},
		"step": {strconv.FormatFloat(over.Step.Seconds(), 'f', -1, 64)}})
}

func seconds(at time.Time) string {
	return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)
}

// ask makes one call, within the time that a call may take.
func (c *Client) ask(ctx context.Context, endpoint string, form url.Values) (Answer, error) {
	limited, stop := context.WithTimeout(ctx, c.timeout)
	defer stop()
	answer, err := c.call(limited, endpoint, form)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return Answer{}, fmt.Errorf("asking Prometheus at %s: %w", c.address(), context.Cause(ctx))
	case limited.Err() != nil:
		return Answer{}, fmt.Errorf("asking Prometheus at %s: no answer within %s", c.address(), c.timeout)
	}
	return Answer{}, fmt.Errorf("asking Prometheus at %s: %w", c.address(), c.clean(err))
}

// call posts the form, because a query may be too long for an address, and asks
// again with GET where something in front of Prometheus forbids POST.
func (c *Client) call(ctx context.Context, endpoint string, form url.Values) (Answer, error) {
	answer, err := c.send(ctx, http.MethodPost, endpoint, form)
	var refused *statusError
	if errors.As(err, &refused) && (refused.code == http.StatusMethodNotAllowed || refused.code == http.StatusNotImplemented) {
		return c.send(ctx, http.MethodGet, endpoint, form)
	}
	return answer, err
}

// address is where Prometheus is, without what may be secret in it.
func (c *Client) address() string { return c.base.Scheme + "://" + c.base.Host + c.base.Path }

// clean makes an error one line without a secret of the configuration. It may be
// as long as an answer: the query, which Prometheus repeats, can hold secrets that
// only the caller knows, and who hides what is cut already finds half a secret.
func (c *Client) clean(err error) error {
	return errors.New(oneline.Of(c.secrets.Hide(err.Error()), maxBody))
}
