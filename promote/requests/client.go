package requests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/acme/knative-promote/internal/httpx"
)

const (
	// Limit is the longest that a request takes.
	Limit = 10 * time.Second
	// most is what is read of an answer's body: it may have no end.
	most = 1 << 20
)

// Route is how requests get to the Service. The zero Route is the URL's own host.
type Route struct {
	Connect string // host:port to connect to instead of the URL's, as curl --connect-to
	// Wrap, unless nil, is put around what sends the requests, to see them.
	Wrap func(http.RoundTripper) http.RoundTripper
}

// A Client sends requests on a Route. Whoever has it closes it.
type Client struct {
	http  *http.Client
	close func()
}

// Open makes a client. Redirects are answers, not followed: they may lead to
// another Service.
func (w Route) Open() *Client {
	dialer := &net.Dialer{Timeout: Limit}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, MaxIdleConnsPerHost: 100}
	if w.Connect != "" {
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, w.Connect)
		}
	}
	var sender http.RoundTripper = httpx.Whole{Next: transport}
	if w.Wrap != nil {
		sender = w.Wrap(sender)
	}
	return &Client{
		http: &http.Client{
			Transport:     sender,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		close: transport.CloseIdleConnections,
	}
}

// Address is that of a path below the URL of a Service, as Knative says it.
func Address(url, path string) string { return strings.TrimSuffix(url, "/") + path }

// Shown is an address without its query, which may hold a secret.
func Shown(address string) string {
	shown, _, _ := strings.Cut(address, "?")
	return shown
}

// Close ends the connections that are not in use.
func (c *Client) Close() { c.close() }

// An Answer is what became of one request.
type Answer struct {
	Status int           // 0: there was none
	Header http.Header   // of the answer
	Took   time.Duration // until the last byte
	// Gateway says that the gateway has answered by itself, and no pod has seen the
	// request: it may not know the route yet.
	Gateway bool
	// Unsent says why the request was not sent: there was no connection, which
	// says nothing of the revision behind it.
	Unsent error
	Err    error // why there was no whole answer to what was sent
}

// Get asks an address once and writes the answer's body, or its first mebibyte,
// to body. A request that ends with ctx was not sent.
func (c *Client) Get(ctx context.Context, address string, body io.Writer) Answer {
	limited, stop := context.WithTimeout(ctx, Limit)
	defer stop()
	var connected atomic.Bool // the dialer has goroutines of its own
	traced := httptrace.WithClientTrace(limited, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	request, err := http.NewRequestWithContext(traced, http.MethodGet, address, nil)
	if err != nil {
		return Answer{Unsent: errors.New("the address cannot be requested")}
	}
	request.Header.Set("User-Agent", "knative-promote")
	began := time.Now()
	answer := c.send(request, body)
	answer.Took = time.Since(began)
	switch err := answer.Err; {
	case err != nil && ctx.Err() != nil:
		return Answer{Unsent: context.Cause(ctx)}
	case err != nil && !connected.Load():
		return Answer{Unsent: err}
	case errors.Is(err, context.DeadlineExceeded):
		answer.Err = fmt.Errorf("no answer within %s", Limit)
	}
	return answer
}

func (c *Client) send(request *http.Request, body io.Writer) Answer {
	response, err := c.http.Do(request)
	if about, ok := errors.AsType[*url.Error](err); ok {
		return Answer{Err: about.Err} // without the address, whose query may hold a secret
	}
	if err != nil {
		return Answer{Err: err}
	}
	defer response.Body.Close()
	answer := Answer{Status: response.StatusCode, Header: response.Header}
	length, err := io.CopyN(body, response.Body, most)
	if err != nil && !errors.Is(err, io.EOF) {
		answer.Err = fmt.Errorf("reading the answer: %w", err)
		return answer
	}
	answer.Gateway = length == 0 && response.StatusCode/100 != 2 && envoys(response.Header)
	return answer
}

// envoys tells whether Envoy, which Kourier, Istio and Contour are made of, has
// answered by itself. Its name stands in all answers, and how long the upstream
// took in those that an upstream has given, where that is not switched off
// (https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/router_filter#x-envoy-upstream-service-time).
func envoys(header http.Header) bool {
	server := header.Get("Server")
	return (server == "envoy" || server == "istio-envoy") && header.Get("X-Envoy-Upstream-Service-Time") == ""
}

// Fault says what is wrong with an answer; nil: it is good. Expect is the one
// status that is; 0: any 2xx.
func (a Answer) Fault(expect int) error {
	switch {
	case a.Unsent != nil:
		return a.Unsent
	case a.Err != nil:
		return a.Err
	case a.Status == expect || expect == 0 && a.Status/100 == 2:
		return nil
	}
	wanted := fmt.Sprint(expect)
	if expect == 0 {
		wanted = "a 2xx status"
	}
	status := strings.TrimSpace(fmt.Sprint(a.Status, " ", http.StatusText(a.Status)))
	if a.Gateway {
		status += " by the gateway itself"
	}
	return fmt.Errorf("answered %s instead of %s", status, wanted)
}
