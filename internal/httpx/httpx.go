// Package httpx is what our clients over HTTP have in common.
package httpx

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// longestDial is how long a connection, and its TLS handshake, may take at most.
const longestDial = 10 * time.Second

// Transport is one through the environment's proxy that trusts the certificates in ca,
// which are PEM, beside the system's; with insecure it accepts any certificate. A call
// that may take no longer than limit gives up on a connection as soon.
func Transport(ca []byte, insecure bool, limit time.Duration) (*http.Transport, error) {
	pool, err := roots(ca)
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: min(longestDial, limit)}).DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: pool, InsecureSkipVerify: insecure, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: min(longestDial, limit),
		IdleConnTimeout:     90 * time.Second,
	}, nil
}

// usual is a transport with Go's defaults, whatever becomes of that of the process.
var usual = http.DefaultTransport.(*http.Transport).Clone()

// Default is what sends requests of which nothing else is said: Go's own, as it is when the program starts.
func Default() http.RoundTripper { return usual }

// RefuseOthers has the process send nothing over HTTP but by [Default] and [Transport]: a library that fetches what a file names, as kustomize
// does, gets an error. It is for the beginning of a program.
func RefuseOthers() {
	refuse := func(_ context.Context, _, address string) (net.Conn, error) {
		return nil, fmt.Errorf("nothing is fetched from %s: a library asked for it, because a file names it", address)
	}
	others := http.DefaultTransport.(*http.Transport)
	others.Proxy, others.DialContext, others.DialTLSContext = nil, refuse, refuse
}

// Whole sends requests whose answers end with the request's context: one that switches to another protocol has no body. Go
// hands that connection over instead, and its reads end with nothing. https://pkg.go.dev/net/http#Response
type Whole struct{ Next http.RoundTripper }

// RoundTrip sends one.
func (w Whole) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.Next.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusSwitchingProtocols {
		err = response.Body.Close()
		response.Body = http.NoBody
	}
	return response, err
}

// roots is the system's pool and the given certificates, nil for the system's alone.
func roots(ca []byte) (*x509.CertPool, error) {
	if len(ca) == 0 {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // an image without certificates: the given ones are all
	}
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("expected one or more PEM certificates (-----BEGIN CERTIFICATE-----)")
	}
	return pool, nil
}

// RedirectsTo is the host that a redirect leads to. Its path and query may hold secrets.
func RedirectsTo(resp *http.Response) string {
	location, err := resp.Location()
	if err != nil {
		return "nowhere"
	}
	return location.Scheme + "://" + location.Host
}
