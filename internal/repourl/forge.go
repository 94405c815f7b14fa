package repourl

import (
	"net"
	"net/url"
	"regexp"
	"strings"
)

var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

// IsName tells whether a text is the owner/name of a repository on a forge.
func IsName(text string) bool { return name.MatchString(text) }

// OnServer is the address of owner/name on a forge, whose own address is a URL.
func OnServer(server, name string, ssh bool) string {
	if ssh {
		return "ssh://git@" + Read(server).Host + "/" + name + ".git"
	}
	return strings.TrimSuffix(server, "/") + "/" + name + ".git"
}

// Name is the owner/name that the path ends with, or less where it has less.
func (a Address) Name() string {
	parts := strings.Split(a.trimmed(), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// CommitURL is where a forge shows a commit of the repository, up to its hash.
// Empty means not known. The port of SSH is not the one of the pages.
func (a Address) CommitURL() string {
	host := a.Host
	switch {
	case a.Scheme == "https" && a.Port != "":
		host = net.JoinHostPort(host, a.Port)
	case a.Scheme == "https" && strings.Contains(host, ":"): // an address of IPv6
		host = "[" + host + "]"
	case a.Scheme != "https" && a.Scheme != "ssh" || host == "":
		return ""
	}
	page := url.URL{Scheme: "https", Host: host, Path: "/" + a.trimmed() + "/commit/"}
	return page.String()
}
