// Package web makes the request of a web metric, and gives what its JSONPath finds
// in the answer.
//
// It does what Argo Rollouts does
// (https://github.com/argoproj/argo-rollouts/blob/v1.8.5/metricproviders/webmetric/webmetric.go),
// with these differences: a redirect to another host or scheme is an error, since
// headers and tokens are for the one that the template names; an answer is bounded;
// a JSONPath needs an answer in JSON; a header Host is sent; and where neither a
// JSONPath nor a condition is there, the result is the status.
package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/acme/knative-promote/internal/httpx"
	"github.com/acme/knative-promote/promote/analysis/jsonpath"
	"github.com/acme/knative-promote/promote/analysis/template"
)

const (
	maxAnswer    = 256 << 10 // bytes of a body
	maxRedirects = 5
	dialTime     = 10 * time.Second
)

// A Client makes requests. Around, if it is there, wraps what sends them.
type Client struct {
	Around func(http.RoundTripper) http.RoundTripper
}

// Ask makes one request, and gives the value for the conditions: what
// encoding/json makes of it, a text, or the status where statusOnly. An answer
// without a 2xx status is an error. Errors do not name the path and the query,
// which may contain secrets, but may quote what a server says.
func (c Client) Ask(ctx context.Context, w template.Web, statusOnly bool) (any, error) {
	request, err := newRequest(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", cause(err))
	}
	client := c.client(ctx, w)
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", request.URL.Host, cause(err))
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("asking %s: answered %d %s, expected a 2xx status", request.URL.Host, response.StatusCode, http.StatusText(response.StatusCode))
	}
	if statusOnly && w.JSONPath == "" {
		return fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode)), nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the answer of %s: %w", request.URL.Host, cause(err))
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the answer of %s is longer than %d bytes", request.URL.Host, maxAnswer)
	}
	return find(ctx, body, w.JSONPath)
}

// cause is an error without the address, whose path and query may contain secrets.
func cause(err error) error {
	var wrapped *url.Error
	for errors.As(err, &wrapped) { // the request for a token has one of its own
		err = wrapped.Err
	}
	return err
}

func newRequest(ctx context.Context, w template.Web) (*http.Request, error) {
	method := w.Method
	if method == "" {
		method = http.MethodGet
	}
	body := []byte(w.Body)
	if len(w.JSONBody) > 0 {
		body = w.JSONBody
	}
	request, err := http.NewRequestWithContext(ctx, method, w.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "knative-promote")
	for _, header := range w.Headers {
		request.Header.Set(header.Key, header.Value)
		if strings.EqualFold(header.Key, "Host") {
			request.Host = header.Value
		}
	}
	if len(w.JSONBody) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

// client is one for the request alone, so that nothing of another metric is used.
func (c Client) client(ctx context.Context, w template.Web) *http.Client {
	to := connector{w}
	var sender http.RoundTripper = httpx.Whole{Next: &http.Transport{
		Proxy:           to.proxy,
		DialContext:     to.dial,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: w.Insecure}, // as the template asks
	}}
	if c.Around != nil {
		sender = c.Around(sender)
	}
	plain := &http.Client{Transport: sender, CheckRedirect: sameHost}
	o := w.Authentication.OAuth2
	if o.TokenURL == "" {
		return plain
	}
	credentials := clientcredentials.Config{ClientID: o.ClientID, ClientSecret: o.ClientSecret, TokenURL: o.TokenURL, Scopes: o.Scopes}
	client := credentials.Client(context.WithValue(ctx, oauth2.HTTPClient, plain))
	client.CheckRedirect = sameHost
	return client
}

// A connector finds the way to the host of a metric's URL. To others, such as the
// one that gives the token, it is the usual one.
type connector struct{ template.Web }

// proxy is the environment's, but none where the metric says what to connect to.
func (c connector) proxy(request *http.Request) (*url.URL, error) {
	if own, err := url.Parse(c.URL); c.Connect != "" && err == nil && own.Host == request.URL.Host {
		return nil, nil
	}
	return http.ProxyFromEnvironment(request)
}

func (c connector) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if own, err := url.Parse(c.URL); c.Connect != "" && err == nil && address == net.JoinHostPort(own.Hostname(), port(own)) {
		address = c.Connect
	}
	return (&net.Dialer{Timeout: dialTime}).DialContext(ctx, network, address)
}

// port is that of an address, or else its scheme's.
func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// sameHost follows no redirect to another host or scheme.
func sameHost(request *http.Request, via []*http.Request) error {
	first := via[0].URL
	if request.URL.Scheme != first.Scheme || request.URL.Host != first.Host {
		return fmt.Errorf("it redirects to %s://%s, expected the address that answers", request.URL.Scheme, request.URL.Host)
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	}
	return nil
}

// find is the first value that a JSONPath finds. A body that is no JSON is a text.
func find(ctx context.Context, body []byte, path string) (any, error) {
	var data any
	if err := json.Unmarshal(body, &data); err != nil {
		if path != "" {
			return nil, fmt.Errorf("the answer is no JSON, in which the jsonPath %s could be looked for", path)
		}
		return string(body), nil
	}
	if path == "" {
		return data, nil
	}
	value, err := jsonpath.Find(ctx, path, data)
	if err != nil {
		return nil, fmt.Errorf("looking for the jsonPath %s in the answer: %w", path, err)
	}
	return value, nil
}
