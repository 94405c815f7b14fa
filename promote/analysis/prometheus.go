package analysis

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/acme/knative-promote/promote/analysis/condition"
	"github.com/acme/knative-promote/promote/analysis/template"
	"github.com/acme/knative-promote/promote/prometheus"
)

// Prometheus is the source of prometheus metrics. A vector and a matrix give all
// of their values as one list, as with Argo Rollouts, and a scalar a number.
type Prometheus struct {
	// Default is for metrics without an address of their own, or with the same one.
	Default prometheus.Config
	// Around, if it is there, wraps what sends the requests.
	Around func(http.RoundTripper) http.RoundTripper
}

// Measure asks the metric's query.
func (p Prometheus) Measure(ctx context.Context, metric template.Metric) (Answer, error) {
	m := *metric.Prometheus
	if err := errors.Join(p.misuses(m)...); err != nil {
		return Answer{}, err
	}
	client, err := prometheus.New(p.config(ctx, m, metric.Timeout()))
	if err != nil {
		return Answer{}, err
	}
	answer, err := query(ctx, client, m)
	if err != nil {
		return Answer{}, err
	}
	if answer.Scalar && len(answer.Samples) == 1 {
		return Answer{Result: answer.Samples[0].Value}, nil
	}
	values := make([]float64, 0, len(answer.Samples))
	for _, sample := range answer.Samples {
		values = append(values, sample.Value)
	}
	return Answer{Result: values}, nil
}

// query asks at this moment, or over the time of the metric's range.
func query(ctx context.Context, client *prometheus.Client, m template.Prometheus) (prometheus.Answer, error) {
	if m.RangeQuery == nil {
		return client.Query(ctx, m.Query, time.Now())
	}
	start, err := condition.Time(m.RangeQuery.Start)
	if err != nil {
		return prometheus.Answer{}, fmt.Errorf("rangeQuery.start: %w", err)
	}
	end, err := condition.Time(m.RangeQuery.End)
	if err != nil {
		return prometheus.Answer{}, fmt.Errorf("rangeQuery.end: %w", err)
	}
	step, err := time.ParseDuration(m.RangeQuery.Step)
	if err != nil {
		return prometheus.Answer{}, fmt.Errorf("rangeQuery.step: %w", err)
	}
	return client.QueryRange(ctx, m.Query, prometheus.Range{Start: start, End: end, Step: step})
}

// config is where and how the metric asks. The headers and the certificates of the
// default are for its address alone, and go along with what [Prometheus.misuses] lets
// a metric say there.
func (p Prometheus) config(ctx context.Context, m template.Prometheus, timeout time.Duration) prometheus.Config {
	config := prometheus.Config{Address: m.Address, Headers: http.Header{}, Insecure: m.Insecure, Timeout: timeout, Around: p.Around}
	if p.isOurs(m.Address) {
		config.Headers, config.CA = p.Default.Headers.Clone(), p.Default.CA
		config.Insecure = m.Insecure || p.Default.Insecure
	}
	if config.Headers == nil {
		config.Headers = http.Header{}
	}
	for _, header := range m.Headers {
		config.Headers.Set(header.Key, header.Value)
	}
	if basic := m.Authentication.BasicAuth; basic.Username != "" {
		credentials := base64.StdEncoding.EncodeToString([]byte(basic.Username + ":" + basic.Password))
		config.Headers.Set("Authorization", "Basic "+credentials)
	}
	if o := m.Authentication.OAuth2; o.TokenURL != "" {
		config.Around = withToken(ctx, o, p.Around)
	}
	return config
}

// withToken has each request carry a token, which is asked for first. A redirect
// is followed by neither of them: what they carry is for the hosts that the
// template names.
func withToken(ctx context.Context, o template.OAuth2, around func(http.RoundTripper) http.RoundTripper) func(http.RoundTripper) http.RoundTripper {
	return func(sender http.RoundTripper) http.RoundTripper {
		if around != nil {
			sender = around(sender)
		}
		plain := &http.Client{
			Transport:     sender,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		ctx := context.WithValue(ctx, oauth2.HTTPClient, plain)
		credentials := clientcredentials.Config{ClientID: o.ClientID, ClientSecret: o.ClientSecret, TokenURL: o.TokenURL, Scopes: o.Scopes}
		return &oauth2.Transport{Source: credentials.TokenSource(ctx), Base: sender}
	}
}
