// Package strays looks at the requests to servers for credentials that are for others: in
// headers, addresses and bodies, as they are and in base64.
package strays

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A Credential is what only some servers may be sent.
type Credential struct {
	Name    string
	Secret  string
	Servers []string // by their names; none: nobody may be sent it
}

// A Watch is over the requests of several servers.
type Watch struct {
	Credentials func() []Credential
	Found       func(stray string) // called for each that is sent to another server, also side by side
}

// Handler is a server whose requests are looked at.
func (w *Watch) Handler(server string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		var head strings.Builder
		_ = r.Header.Write(&head) // to a string, which takes all
		query, err := url.QueryUnescape(r.URL.RawQuery)
		fmt.Fprintln(&head, r.Host, r.URL.Path, r.URL.RawQuery, query, err)
		look := func(part string) { w.look(server, r, part) }
		look(head.String())
		r.Body = &body{ReadCloser: r.Body, look: look}
		next.ServeHTTP(out, r)
	})
}

// look looks for what the server may not have in a part of a request.
func (w *Watch) look(server string, r *http.Request, part string) {
	for _, c := range w.Credentials() {
		if slices.Contains(c.Servers, server) {
			continue
		}
		if slices.ContainsFunc(append(Encoded(c.Secret), c.Secret), func(form string) bool { return strings.Contains(part, form) }) {
			w.Found(fmt.Sprintf("%s was sent to %s: %s %s", c.Name, server, r.Method, r.URL.Path))
		}
	}
}

// Encoded is a secret in base64 at each of the three places where it can begin.
func Encoded(secret string) (texts []string) {
	for before := range 3 {
		whole := base64.RawStdEncoding.EncodeToString([]byte("???"[:before] + secret))
		texts = append(texts, whole[(before*8+5)/6:len(whole)-2])
	}
	return texts
}

// A body shows what is read of it, with the end of what was read before.
type body struct {
	io.ReadCloser
	look func(string)
	last string
}

const longest = 1 << 10 // bytes of a credential, in base64

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		part := b.last + string(p[:n])
		b.look(part)
		b.last = part[max(0, len(part)-longest):]
	}
	return n, err
}
