package prometheus

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/acme/knative-promote/internal/httpx"
	"github.com/acme/knative-promote/internal/redact"
)

// Limit is the longest that a call takes, unless a Config says otherwise.
const Limit = 30 * time.Second

// Config says where Prometheus is and how to reach it.
type Config struct {
	// Address is the URL that /api/v1/query is below, such as
	// https://prometheus.example.com or https://mimir.example.com/prometheus. A user
	// with a password in it is sent as basic authentication, a query such as
	// ?tenant=shop with every request. Neither is in an error.
	Address string
	// Headers are added to every request.
	Headers http.Header
	// CA holds PEM certificates that are trusted beside the system's.
	CA []byte
	// Insecure accepts any certificate.
	Insecure bool
	// Timeout bounds one call, [Limit] when zero.
	Timeout time.Duration
	// Around, unless nil, is put around what sends the requests, to see them.
	Around func(http.RoundTripper) http.RoundTripper
}

// base is the address without an error that would show its secrets.
func (c Config) base() (*url.URL, error) {
	u, err := url.Parse(c.Address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" {
		return nil, errors.New("address of Prometheus: expected an http or https URL with a host, such as https://prometheus.example.com")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

// header is what every request carries.
func (c Config) header(base *url.URL) http.Header {
	header := http.Header{"User-Agent": {"knative-promote"}}
	if base.User != nil {
		password, _ := base.User.Password()
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(base.User.Username()+":"+password)))
	}
	for name, values := range c.Headers {
		header.Del(name)
		for _, value := range values {
			header.Add(name, value)
		}
	}
	return header
}

func (c Config) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return Limit
}

func (c Config) transport() (*http.Transport, error) {
	t, err := httpx.Transport(c.CA, c.Insecure, c.timeout())
	if err != nil {
		return nil, fmt.Errorf("CA of Prometheus: %w", err)
	}
	return t, nil
}

// shortest is the length from which on a value is masked. Shorter ones, such as a
// tenant's number, would take ordinary words out of errors.
const shortest = 6

// secrets masks the values of headers and of the address's query, and the
// password, in what Prometheus says.
func secrets(base *url.URL, header http.Header) *redact.Secrets {
	secrets := &redact.Secrets{}
	mask := func(value string) {
		if len(value) >= shortest {
			secrets.Add(value)
		}
	}
	for name, values := range header {
		for _, value := range values {
			if name == "User-Agent" {
				continue
			}
			mask(value)
			if _, token, two := strings.Cut(value, " "); two { // Bearer and its token
				mask(token)
			}
		}
	}
	if password, has := base.User.Password(); has {
		mask(password)
	}
	for _, values := range base.Query() {
		for _, value := range values {
			mask(value)
		}
	}
	return secrets
}

// A statusError is an answer whose status is not 200.
type statusError struct {
	code int
	text string // what the server says, or what that may mean
}

func (e *statusError) Error() string {
	status := strings.TrimSpace(fmt.Sprintf("answered %d %s", e.code, http.StatusText(e.code)))
	if e.text == "" {
		return status
	}
	return status + ": " + e.text
}
