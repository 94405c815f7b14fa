package inputs

import (
	"errors"
	"net"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/acme/knative-promote/gitops"
)

const (
	slugPattern = `^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`
	scpPattern  = `^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^\s:]+$` // git@github.com:owner/name.git
)

// parseRepository accepts owner/name, a URL, the scp form of ssh, and a local
// path. A secret inside a URL would end up in messages, so it is refused.
func parseRepository(text string) (string, error) {
	switch {
	case regexp.MustCompile(slugPattern).MatchString(text), regexp.MustCompile(scpPattern).MatchString(text):
		return text, nil
	case path.IsAbs(text), strings.HasPrefix(text, "./"), strings.HasPrefix(text, "../"):
		return text, nil
	}
	return parseRepositoryURL(text)
}

func parseRepositoryURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", errors.New("expected owner/name or a URL")
	}
	switch u.Scheme {
	case "http", "https":
		if u.User != nil {
			return "", errors.New("expected a URL without a user or password; put the token into the input token")
		}
	case "ssh":
		if _, secret := u.User.Password(); secret {
			return "", errors.New("expected a URL without a password; put the key into the input ssh-key")
		}
	case "file":
		if u.User != nil {
			return "", errors.New("expected a URL without a user or password")
		}
		return text, nil
	default:
		return "", errors.New("expected owner/name, or a URL that starts with https:// or ssh://")
	}
	if u.Host == "" || strings.Trim(u.Path, "/") == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("expected a URL with a host and a path, and nothing after it")
	}
	return u.Scheme + text[len(u.Scheme):], nil // HTTPS:// is https://
}

// schemeOf is how an address is reached, in lower case; empty for a local path.
func schemeOf(address string) string {
	if !strings.Contains(address, "://") && regexp.MustCompile(scpPattern).MatchString(address) {
		return "ssh"
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme
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
func repositoryURL(remote gitops.Remote, server string) string {
	if !regexp.MustCompile(slugPattern).MatchString(remote.URL) {
		return remote.URL
	}
	if len(remote.SSHKey) > 0 && remote.Token == "" {
		return "ssh://git@" + hostOf(server) + "/" + remote.URL + ".git"
	}
	return strings.TrimSuffix(server, "/") + "/" + remote.URL + ".git"
}

// Slug is the owner/name at the end of a repository's URL.
func Slug(repository string) string {
	parts := strings.Split(strings.TrimSuffix(strings.Trim(repository, "/"), ".git"), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// CommitURL is where a forge shows a commit of the repository, up to its hash.
// Empty means not known.
func CommitURL(repository string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(repository, "/"), ".git")
	ssh := schemeOf(repository) == "ssh"
	if rest, ok := strings.CutPrefix(name, "ssh://"); ok {
		name = rest
	} else if ssh {
		name = strings.Replace(name, ":", "/", 1)
	}
	if _, rest, ok := strings.Cut(name, "@"); ok && ssh {
		name = "https://" + rest
	}
	if !strings.HasPrefix(name, "https://") {
		return ""
	}
	return name + "/commit/"
}

func hostOf(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	return u.Hostname()
}

// parseServer accepts host[:port], also as the https URL that a browser shows.
func parseServer(text string) (string, error) {
	host := strings.TrimSuffix(regexp.MustCompile(`(?i)^https://`).ReplaceAllString(text, ""), "/")
	if schemeOf(host) == "http" {
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
