package gitops

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/acme/knative-promote/internal/repourl"
)

// branchName checks the name of a branch and makes it a full reference.
func branchName(branch string) (plumbing.ReferenceName, error) {
	name := plumbing.NewBranchReferenceName(branch)
	if err := name.Validate(); err != nil || strings.HasPrefix(branch, "refs/") || strings.HasPrefix(branch, "-") {
		return "", fmt.Errorf("branch %q: expected the short name of a branch, such as main", clean(branch))
	}
	return name, nil
}

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
	return nil, fmt.Errorf("repository %q: %w, expected https://HOST/PATH, ssh://git@HOST/PATH, git@HOST:PATH, or a local path that starts with / or ./", clean(repourl.Shown(text)), err)
}
