package repourl

import (
	"fmt"
	"regexp"
	"strings"
)

// A Fault is what is wrong with an address.
type Fault int

// The faults of addresses.
const (
	Unreadable  Fault = iota // it is no address at all
	BadScheme                // it has no scheme, or one that is not supported
	Credentials              // it holds a secret, which would end up in messages
	BadHost                  // it has no host, or one where none may be
	BadPath                  // it has no path to a repository
	Extra                    // it has a query or a fragment
)

// An Error says what is wrong with an address, without showing it.
type Error struct {
	Fault  Fault
	reason string
}

// Error is the reason in words.
func (e *Error) Error() string { return e.reason }

// pushable is the scp form of an address that can be pushed to. One without a
// user looks like a URL whose scheme is wrong, and go-git takes a number before a
// second colon for a port.
var pushable = regexp.MustCompile(`^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^\s:]+$`)

// Parse reads the address of a repository that can be fetched from and pushed
// to: over HTTP, HTTPS or SSH, or at a local path. The address is taken apart
// for an [*Error], too.
func Parse(text string) (Address, error) {
	a := Read(text)
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return a, &Error{Unreadable, "it has blanks or control characters"}
	}
	switch {
	case local(text):
		return a, nil
	case !strings.Contains(text, "://") && !pushable.MatchString(text):
		return a, &Error{BadScheme, "it has no scheme"}
	case a.unreadable:
		return a, &Error{Unreadable, "it cannot be read"}
	}
	return a, a.check()
}

func (a Address) check() error {
	_, hasPassword := a.user.Password()
	path := strings.Trim(a.Path, "/")
	switch {
	case a.Scheme != "http" && a.Scheme != "https" && a.Scheme != "ssh" && a.Scheme != "file":
		return &Error{BadScheme, fmt.Sprintf("the scheme %s is not supported", a.Scheme)}
	case a.user != nil && (a.Scheme != "ssh" || hasPassword):
		return &Error{Credentials, "it holds credentials: give the token on its own"}
	case a.Scheme != "file" && a.Host == "":
		return &Error{BadHost, "it has no host"}
	case a.Scheme == "file" && a.Host != "":
		return &Error{BadHost, "a file URL has no host"}
	case a.extra:
		return &Error{Extra, "it has a query or a fragment"}
	case path == "" || strings.HasPrefix(path, "-"):
		return &Error{BadPath, "it has no path to a repository"}
	}
	return nil
}
