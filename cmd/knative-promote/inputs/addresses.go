package inputs

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/repourl"
)

// parseRepository accepts owner/name, a URL, the scp form of ssh, and a local
// path. A secret inside a URL would end up in messages, so it is refused.
func parseRepository(text string) (string, error) {
	if repourl.IsName(text) {
		return text, nil
	}
	address, err := repourl.Parse(text)
	if bad, ok := errors.AsType[*repourl.Error](err); ok {
		return "", expected(address.Scheme, bad)
	}
	return address.String(), without(address.Host)
}

// without says what forges miss that cannot be pushed to. Their Git servers demand
// multi_ack, which go-git v5 has not (https://github.com/go-git/go-git/issues/64).
func without(host string) error {
	host = strings.ToLower(host)
	azure := strings.HasSuffix(host, "dev.azure.com") || strings.HasSuffix(host, ".visualstudio.com")
	if azure || strings.HasPrefix(host, "git-codecommit.") {
		return errors.New("the servers of Azure DevOps and AWS CodeCommit demand multi_ack, an ability of Git's protocol that is missing here; expected a repository on another Git server")
	}
	return nil
}

// expected says which input takes what an address must not hold, and how the
// address should look.
func expected(scheme string, bad *repourl.Error) error {
	switch {
	case bad.Fault == repourl.BadScheme:
		return errors.New("expected owner/name, or a URL that starts with https:// or ssh://")
	case bad.Fault == repourl.Credentials && scheme == "ssh":
		return errors.New("expected a URL without a password; put the key into the input ssh-key")
	case bad.Fault == repourl.Credentials && scheme == "file":
		return errors.New("expected a URL without a user or password")
	case bad.Fault == repourl.Credentials:
		return errors.New("expected a URL without a user or password; put the token into the input token")
	case bad.Fault == repourl.BadHost && scheme == "file":
		return fmt.Errorf("%w; expected one like file:///srv/infra.git", bad)
	case bad.Fault != repourl.Unreadable && (scheme == "http" || scheme == "https"):
		return errors.New("expected a URL with a host and a path, and nothing after it")
	}
	return fmt.Errorf("%w; expected owner/name, a URL or a local path", bad)
}

// InClear says whether what is sent to the address travels without TLS over a
// network.
func InClear(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}

// repositoryURL is the remote's URL with owner/name resolved on the server:
// over ssh where only a key is given, else over https.
func repositoryURL(infra remote.Config, server string) string {
	if !repourl.IsName(infra.URL) {
		return infra.URL
	}
	return repourl.OnServer(server, infra.URL, len(infra.SSHKey) > 0 && infra.Token == "")
}

// parseServer accepts host[:port], also as the https URL that a browser shows.
func parseServer(text string) (string, error) {
	host := strings.TrimSuffix(regexp.MustCompile(`(?i)^https://`).ReplaceAllString(text, ""), "/")
	if strings.HasPrefix(strings.ToLower(host), "http:") {
		return "", errors.New("expected host[:port] without http://; for a server without TLS set argocd-plaintext to true as well")
	}
	if strings.Contains(host, "/") {
		return "", errors.New("expected host[:port] without a path; put the path into argocd-root-path")
	}
	u, err := url.Parse("//" + host)
	if err != nil || u.Host != host || u.Hostname() == "" || strings.HasSuffix(host, ":") || !validPort(u.Port()) {
		return "", errors.New("expected host[:port]")
	}
	return host, nil
}

// parsePrometheus accepts the URL that Prometheus' API is below.
func parsePrometheus(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("expected an http or https URL with a host, and nothing after its path")
	case u.User != nil:
		return "", errors.New("expected a URL without a user or password; put them into the input prometheus-headers, as Authorization: Basic and both in base64")
	}
	return text, nil
}

func parseHostPort(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || port == "" || !validPort(port) || strings.ContainsAny(text, "/ ") {
		return "", errors.New("expected host:port")
	}
	return text, nil
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

func parseRootPath(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Path != text || strings.HasPrefix(text, "//") {
		return "", errors.New("expected a path")
	}
	return path.Clean("/" + text), nil
}
