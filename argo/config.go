package argo

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/acme/knative-promote/internal/httpx"
	"github.com/acme/knative-promote/internal/oneline"
)

// Config says where Argo CD is and how to reach it.
type Config struct {
	// Server is host or host:port, also with https:// before it. The port is 443
	// unless given, and 80 for Plaintext.
	Server string
	// Token is a token of an Argo CD account or project role. It is sent to Server only.
	Token string
	// RootPath is the path that Argo CD is served under (--rootpath), usually empty.
	RootPath string
	// UserAgent names the caller, "knative-promote" when empty.
	UserAgent string
	// CA holds PEM certificates that are trusted beside the system's.
	CA []byte
	// Insecure accepts any certificate.
	Insecure bool
	// Plaintext talks HTTP without TLS, so that the token travels in the clear.
	Plaintext bool
	// Headers are added to every request, for a proxy in front of Argo CD. With an
	// Authorization header here, Token travels in Argo CD's own header "token".
	Headers http.Header
	// Proxy chooses the proxy of a request. Nil takes HTTPS_PROXY, HTTP_PROXY and
	// NO_PROXY from the environment, as [http.ProxyFromEnvironment] does.
	Proxy func(*http.Request) (*url.URL, error)
	// Timeout bounds one call, 30 s when zero. A call that is tried again ends within
	// twice this time.
	Timeout time.Duration
	// Around, unless nil, is put around what sends the requests, to see them.
	Wrap func(http.RoundTripper) http.RoundTripper
}

// base is the URL that the procedures' names are appended to.
func (c Config) base() (string, error) {
	scheme, host := "https", strings.TrimSpace(c.Server)
	if c.Plaintext {
		scheme = "http"
	}
	if before, after, found := strings.Cut(host, "://"); found {
		if before != "https" && (before != "http" || !c.Plaintext) {
			return "", fmt.Errorf("server %q: expected host[:port] without %s:// (HTTP without TLS must be allowed explicitly, as plaintext)",
				redacted(host), oneline.Brief(before))
		}
		host = after
	}
	host = strings.TrimSuffix(host, "/")
	if err := checkHost(host); err != nil {
		return "", err
	}
	root, err := rootPath(c.RootPath)
	return scheme + "://" + host + root, err
}

func checkHost(host string) error {
	u, err := url.Parse("//" + host)
	switch {
	case host == "":
		return errors.New("server is missing: expected the host[:port] of Argo CD")
	case strings.Contains(host, "@"):
		return fmt.Errorf("server %q: expected host[:port] without a user name", redacted(host))
	case err != nil || u.Hostname() == "" || strings.ContainsAny(host, " ?#\\"):
		return fmt.Errorf("server %q: expected host[:port]", oneline.Brief(host))
	case u.Path != "":
		return fmt.Errorf("server %q: expected host[:port] without a path (use the root path for %q)", oneline.Brief(host), oneline.Brief(u.Path))
	}
	return nil
}

// redacted shows an address without what stands before an @.
func redacted(address string) string {
	if at := strings.LastIndex(address, "@"); at >= 0 {
		address = "***" + address[at:]
	}
	return oneline.Brief(address)
}

func rootPath(root string) (string, error) {
	if strings.ContainsAny(root, "?#%\\ ") || strings.Contains(root, "://") {
		return "", fmt.Errorf("root path %q: expected a path such as /argo-cd", oneline.Brief(root))
	}
	return strings.TrimSuffix(path.Clean("/"+root), "/"), nil
}

// header is what every request carries.
func (c Config) header() (http.Header, error) {
	header := http.Header{}
	for name, values := range c.Headers {
		for _, value := range values {
			if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
				return nil, fmt.Errorf("header %q: expected `Name: value` on one line", oneline.Brief(name))
			}
			header.Add(name, value)
		}
	}
	token := strings.TrimSpace(c.Token)
	switch {
	case token == "":
		return nil, errors.New("token is missing: expected a token of an Argo CD account or project role")
	case strings.ContainsAny(token, " \t\r\n") || !httpguts.ValidHeaderFieldValue(token):
		return nil, errors.New("token: expected one word without blanks or line breaks")
	case header.Get("Authorization") != "":
		header.Set("Token", token)
	default:
		header.Set("Authorization", "Bearer "+token)
	}
	agent := c.UserAgent
	if agent == "" {
		agent = "knative-promote"
	}
	header.Set("User-Agent", oneline.Brief(agent))
	return header, nil
}

func (c Config) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return 30 * time.Second
}

// transport is an HTTP/1.1 transport: Argo CD's own listener understands grpc-web on
// HTTP/1.1 only (https://github.com/argoproj/argo-cd/blob/v2.14.21/server/server.go#L618-L620).
func (c Config) transport() (*http.Transport, error) {
	t, err := httpx.Transport(c.CA, c.Insecure, c.timeout())
	if err != nil {
		return nil, fmt.Errorf("CA: %w", err)
	}
	if c.Proxy != nil {
		t.Proxy = c.Proxy
	}
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.ResponseHeaderTimeout = 2 * c.timeout()
	t.DisableCompression = true
	return t, nil
}
