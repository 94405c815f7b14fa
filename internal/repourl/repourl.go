// Package repourl knows the ways to write where a Git repository is: a URL, the
// scp form of ssh, a local path, and owner/name on a forge.
package repourl

import (
	"net/url"
	"path"
	"regexp"
	"strings"
)

// An Address is where a repository is, taken apart.
type Address struct {
	Scheme string // in lower case, ssh for the scp form, empty for a local path
	Host   string // without the port
	Port   string // empty: the scheme's usual one
	Path   string // without its escapes

	text       string
	user       *url.Userinfo
	unreadable bool // it looks like a URL and is none
	extra      bool // it has a query or a fragment
}

// scp is the form [user@]host:path (https://git-scm.com/docs/git-clone#_git_urls).
var scp = regexp.MustCompile(`^(?:([^/@]+)@)?([^/:@]+):(.+)$`)

// Read takes an address apart as well as it can. Whether it is one that a
// repository can be reached at, only [Parse] says.
func Read(text string) Address {
	if local(text) {
		return Address{Path: text, text: text}
	}
	if m := scp.FindStringSubmatch(text); m != nil && !strings.Contains(text, "://") {
		a := Address{Scheme: "ssh", Host: m[2], Path: m[3], text: text}
		if m[1] != "" {
			a.user = url.User(m[1])
		}
		return a
	}
	u, err := url.Parse(text)
	if err != nil {
		return Address{Path: text, text: text, unreadable: true}
	}
	return Address{
		Scheme: u.Scheme, Host: u.Hostname(), Port: u.Port(), Path: u.Path,
		text: u.Scheme + text[len(u.Scheme):], user: u.User, extra: u.RawQuery != "" || u.Fragment != "",
	}
}

// local tells a path of this machine, which has to look like one.
func local(text string) bool {
	return path.IsAbs(text) || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")
}

// String is the address as it was written, but for the case of the scheme.
func (a Address) String() string { return a.text }

// Same tells whether two addresses name one repository: as HTTPS or SSH, with
// or without user, ".git" and the scheme's usual port, and in any case of
// letters, as the forges do.
func Same(a, b string) bool {
	left, right := Read(normal(a)), Read(normal(b))
	if left.Host == "" && left.trimmed() == "" {
		return false
	}
	// An SSH port says nothing about the HTTPS port of the same forge.
	samePort := left.port() == right.port() || left.ssh() != right.ssh()
	return left.Host == right.Host && left.trimmed() == right.trimmed() && samePort
}

func normal(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

func (a Address) ssh() bool { return strings.Contains(a.Scheme, "ssh") }

// port tells HTTP's usual port from HTTPS's; SSH's usual one is empty.
func (a Address) port() string {
	switch {
	case a.ssh() && a.Port == "22":
		return ""
	case a.Port == "":
		return map[string]string{"https": "443", "http": "80", "git": "9418"}[a.Scheme]
	}
	return a.Port
}

// trimmed is the path without the slashes around it and the ending .git.
func (a Address) trimmed() string {
	return strings.TrimSuffix(strings.TrimPrefix(path.Clean("/"+a.Path), "/"), ".git")
}

// Shown is an address that somebody wrote, without what may be credentials.
// Nobody can tell where a password ends in one that is wrong, so everything
// before the last @ of a URL is taken for it, and everything in the query.
func Shown(text string) string {
	scheme, rest, isURL := strings.Cut(text, "://")
	at := strings.LastIndex(text, "@")
	switch {
	case isURL:
		rest = rest[strings.LastIndex(rest, "@")+1:]
		if extra := strings.IndexAny(rest, "?#"); extra >= 0 {
			rest = rest[:extra]
		}
		return scheme + "://" + rest
	case at >= 0 && strings.Contains(text[:at], ":"):
		return text[at+1:]
	}
	return text
}
