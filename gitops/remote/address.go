package remote

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/internal/repourl"
)

// parseAddress checks the form of a repository's address before go-git reads
// it, which would take nearly every text for a local path.
func parseAddress(text string) (*transport.Endpoint, error) {
	address, err := repourl.Parse(text)
	if err == nil {
		var endpoint *transport.Endpoint
		if endpoint, err = transport.NewEndpoint(address.String()); err == nil {
			return endpoint, nil
		}
	}
	return nil, fmt.Errorf("repository %q: %w, expected https://HOST/PATH, ssh://git@HOST/PATH, git@HOST:PATH, or a local path that starts with / or ./", oneline.Brief(repourl.Shown(text)), err)
}
