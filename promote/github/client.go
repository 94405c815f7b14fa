// Package github writes the comment on a pull request and finds the pull
// request that a commit came from, on GitHub and on forges that speak its API.
//
// Nothing here may hold a promotion up: every request has a deadline, waiting
// for rate limits is bounded, and an error of a comment is no more than a
// warning.
package github

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/acme/knative-promote/internal/httpx"
	"github.com/acme/knative-promote/internal/redact"
)

// DefaultAPIURL is the API of github.com.
const DefaultAPIURL = "https://api.github.com/"

// DefaultPatience is how long a Client waits for rate limits in its whole
// life, unless it is told otherwise: one secondary limit and a little more.
const DefaultPatience = 90 * time.Second

// Config says where the API is and who asks.
type Config struct {
	Token      string            // sent to the API's host only
	APIURL     string            // such as https://github.example.com/api/v3; empty: DefaultAPIURL
	Repository string            // owner/name of the pull requests
	Transport  http.RoundTripper // nil: httpx.Default
	Patience   time.Duration     // total time spent on waiting for rate limits; 0: DefaultPatience
}

// Client talks to one repository. It is safe for concurrent use.
type Client struct {
	api         *github.Client
	owner, name string
	secrets     *redact.Secrets

	mu    sync.Mutex
	login string // who the token belongs to, once known
}

// New returns a client. It sends nothing yet.
func New(config Config) (*Client, error) {
	owner, name, found := strings.Cut(config.Repository, "/")
	if !found || !pathPart(owner) || !pathPart(name) {
		return nil, fmt.Errorf("repository %q: expected owner/name", config.Repository)
	}
	if config.Token == "" {
		return nil, errors.New("no GitHub token: set github-token, for example to ${{ github.token }}")
	}
	base, err := apiURL(config.APIURL)
	if err != nil {
		return nil, err
	}
	if config.Transport == nil {
		config.Transport = httpx.Default()
	}
	if config.Patience == 0 {
		config.Patience = DefaultPatience
	}
	api := github.NewClient(&http.Client{
		Transport:     &transport{next: httpx.Whole{Next: config.Transport}, token: config.Token, api: base, patience: config.Patience},
		CheckRedirect: stay,
	})
	api.BaseURL = base
	api.UserAgent = "knative-promote"
	return &Client{api: api, owner: owner, name: name, secrets: redact.Of(config.Token)}, nil
}

// pathPart reports whether name stands for itself in the path of an address.
func pathPart(name string) bool {
	return name != "" && name != "." && name != ".." && url.PathEscape(name) == name
}

func apiURL(address string) (*url.URL, error) {
	if address == "" {
		address = DefaultAPIURL
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.User != nil || (base.Scheme != "https" && base.Scheme != "http") {
		return nil, errors.New("GitHub API address: expected http(s)://host/path without a user, such as https://github.example.com/api/v3")
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	base.RawQuery, base.Fragment = "", ""
	return base, nil
}
