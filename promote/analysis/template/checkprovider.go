package template

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/acme/knative-promote/promote/analysis/condition"
	"github.com/acme/knative-promote/promote/analysis/jsonpath"
)

const mostTimeout = 3600 // seconds

func (p *Prometheus) checked(address string) []error {
	var wrong problems
	at := "provider.prometheus"
	switch {
	case p.Address == "" && address == "":
		wrong.add("%s.address: is not there: give it here or in the input prometheus", at)
	default:
		wrong.url(at+".address", orElse(p.Address, address))
	}
	if p.Query == "" {
		wrong.add("%s.query: expected a query", at)
	}
	if p.Timeout != nil && (*p.Timeout < 1 || *p.Timeout > mostTimeout) {
		wrong.add("%s.timeout: %d: expected seconds from 1 to %d", at, *p.Timeout, mostTimeout)
	}
	if p.RangeQuery != nil {
		wrong.rangeQuery(at+".rangeQuery", *p.RangeQuery)
	}
	wrong.headers(at, p.Headers)
	wrong.authentication(at+".authentication", p.Authentication)
	if basic := p.Authentication.BasicAuth; (basic.Username == "") != (basic.Password == "") {
		wrong.add("%s.authentication.basicAuth: expected both username and password", at)
	}
	return wrong
}

func (p *problems) rangeQuery(at string, r Range) {
	for _, end := range []struct{ name, text string }{{"start", r.Start}, {"end", r.End}} {
		if _, err := condition.Time(end.text); err != nil {
			p.add("%s.%s: %q: expected a time, such as now() - duration(\"5m\"): %w", at, end.name, end.text, err)
		}
	}
	if step, err := time.ParseDuration(r.Step); err != nil || step <= 0 {
		p.add("%s.step: %q: expected a duration such as 1m", at, r.Step)
	}
}

func (w *Web) checked() []error {
	var wrong problems
	at := "provider.web"
	wrong.url(at+".url", w.URL)
	if !slices.Contains([]string{"", "GET", "POST", "PUT"}, w.Method) {
		wrong.add("%s.method: %q: expected GET, POST or PUT", at, w.Method)
	}
	hasJSON := len(w.JSONBody) > 0
	if w.Body != "" && hasJSON {
		wrong.add("%s: has a body and a jsonBody, expected one of them", at)
	}
	if (w.Body != "" || hasJSON) && (w.Method == "" || w.Method == "GET") {
		wrong.add("%s: a body or a jsonBody needs the method POST or PUT", at)
	}
	if w.TimeoutSeconds > mostTimeout {
		wrong.add("%s.timeoutSeconds: %d: expected at most %d", at, w.TimeoutSeconds, mostTimeout)
	}
	if err := jsonpath.Check(w.JSONPath); err != nil {
		wrong.add("%s.jsonPath: %q: %w", at, w.JSONPath, err)
	}
	wrong.headers(at, w.Headers)
	wrong.authentication(at+".authentication", w.Authentication)
	if w.Authentication.BasicAuth != (BasicAuth{}) {
		wrong.add("%s.authentication.basicAuth: is only there for prometheus: set the header Authorization", at)
	}
	return wrong
}

func (p *problems) url(at, text string) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		p.add("%s: %q: expected an address such as https://prometheus.example.com", at, text) // hidden and cut later
	}
}

func (p *problems) headers(at string, headers []Header) {
	for i, h := range headers {
		if h.Key == "" {
			p.add("%s.headers[%d].key: expected the name of a header", at, i)
		}
	}
}

func (p *problems) authentication(at string, a Authentication) {
	if a.Sigv4 != (Sigv4{}) {
		p.add("%s.sigv4: is not supported: ask through a proxy that signs, such as aws-sigv4-proxy", at)
	}
	o := a.OAuth2
	if o.TokenURL == "" {
		return
	}
	p.url(at+".oauth2.tokenUrl", o.TokenURL)
	if o.ClientID == "" || o.ClientSecret == "" {
		*p = append(*p, fmt.Errorf("%s.oauth2: expected both clientId and clientSecret", at))
	}
}
