package gitops

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

const addressForms = "https://HOST/PATH, ssh://git@HOST/PATH, git@HOST:PATH, or a local path that starts with / or ./"

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
func parseAddress(address string) (*transport.Endpoint, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	endpoint, err := transport.NewEndpoint(address)
	if err != nil {
		return nil, badAddress(address, "it cannot be read")
	}
	if strings.HasPrefix(endpoint.Path, "-") || endpoint.Path == "" {
		return nil, badAddress(address, "it has no path to a repository")
	}
	return endpoint, nil
}

func checkAddress(address string) error {
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return badAddress(address, "it has blanks or control characters")
	}
	if !strings.Contains(address, "://") {
		if strings.HasPrefix(address, "/") || strings.HasPrefix(address, ".") || isSCP(address) {
			return nil
		}
		return badAddress(address, "it has no scheme")
	}
	u, err := url.Parse(address)
	if err != nil {
		return badAddress(withoutUser(address), "it cannot be read")
	}
	return checkURL(u)
}

func checkURL(u *url.URL) error {
	shown := *u
	shown.User, shown.RawQuery, shown.Fragment = nil, "", ""
	_, hasPassword := u.User.Password()
	switch {
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ssh" && u.Scheme != "file":
		return badAddress(shown.String(), fmt.Sprintf("the scheme %s is not supported", clean(u.Scheme)))
	case u.Scheme != "file" && u.Host == "":
		return badAddress(shown.String(), "it has no host")
	case u.Scheme == "file" && u.Host != "":
		return badAddress(shown.String(), "a file URL has no host")
	case u.User != nil && (u.Scheme != "ssh" || hasPassword):
		return badAddress(shown.String(), "it holds credentials: give the token on its own")
	case u.RawQuery != "" || u.Fragment != "":
		return badAddress(shown.String(), "it has a query or a fragment")
	}
	return nil
}

// isSCP tells user@host:path from all else without a scheme.
func isSCP(address string) bool {
	user, rest, ok := strings.Cut(address, "@")
	if !ok || user == "" || strings.ContainsAny(user, ":/") {
		return false
	}
	host, path, ok := strings.Cut(rest, ":")
	return ok && host != "" && path != "" && !strings.ContainsAny(host, "/@")
}

// withoutUser cuts what may be credentials out of an address that is no URL.
func withoutUser(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	return scheme + "://" + rest[strings.LastIndex(rest, "@")+1:]
}

func badAddress(address, why string) error {
	return fmt.Errorf("repository %q: %w, expected %s", clean(address), errors.New(why), addressForms)
}
