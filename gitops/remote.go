package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/file"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
)

// remote is the server's side of a repository: where it is, how it is spoken to.
type remote struct {
	address   string // as the user wrote it; it holds no credential
	transport transport.Transport
	auth      transport.AuthMethod
	mint      func(context.Context) (string, error)
	exchanged func(command string, took time.Duration, err error)
	timeout   time.Duration
	patience  time.Duration // with a server that was there before
	answered  atomic.Bool   // it has answered a read
	pushed    atomic.Bool   // it has taken a push

	mu       sync.Mutex
	endpoint transport.Endpoint // moves along with a redirect
	tokens   []string           // that were sent
}

func newRemote(r Remote, branch plumbing.ReferenceName) (*remote, error) {
	endpoint, err := parseAddress(r.URL)
	if err != nil {
		return nil, err
	}
	remote := &remote{
		address: r.URL, endpoint: *endpoint, exchanged: r.Exchanged,
		timeout: cmp.Or(r.Timeout, time.Minute), patience: cmp.Or(r.Patience, 2*time.Minute),
	}
	switch endpoint.Protocol {
	case "http", "https":
		sender := http.DefaultTransport
		if r.Around != nil {
			sender = r.Around(sender)
		}
		remote.exchanged = nil // Around sees each of its requests
		remote.transport = githttp.NewClient(&http.Client{
			Transport:     bounded{sender, branch.String()},
			CheckRedirect: sameHost,
		})
		if remote.mint = r.Mint; r.Token != "" {
			remote.auth = remote.bearer(r.Token)
		}
	case "ssh":
		remote.transport = gitssh.NewClient(nil)
		if remote.auth, err = sshAuth(endpoint, r.SSHKey, r.KnownHosts); err != nil {
			return nil, fmt.Errorf("repository %q: %w", clean(r.URL), err)
		}
	default:
		remote.transport = file.DefaultClient
	}
	return remote, nil
}

// bearer is how a token is sent; it is kept out of what is said from then on.
func (r *remote) bearer(token string) transport.AuthMethod {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.tokens, token) {
		r.tokens = append(r.tokens, token)
	}
	return &githttp.BasicAuth{Username: "x-access-token", Password: token}
}

// credentials are those for the next exchange.
func (r *remote) credentials(ctx context.Context) (transport.AuthMethod, error) {
	if r.mint == nil {
		return r.auth, nil
	}
	token, err := r.mint(ctx)
	if err != nil {
		return nil, err
	}
	return r.bearer(token), nil
}

// givesByName tells whether the server gives out any commit by its name that is
// in a branch: over HTTP Git always does.
func (r *remote) givesByName(can *capability.List) bool {
	protocol := r.at().Protocol
	return protocol == "http" || protocol == "https" || can.Supports(capability.AllowReachableSHA1InWant)
}

// at returns a copy of the endpoint, because go-git writes redirects into it.
func (r *remote) at() *transport.Endpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	endpoint := r.endpoint
	return &endpoint
}

// moved remembers where a redirect led, as go-git follows only the first
// request of a session.
func (r *remote) moved(to *transport.Endpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endpoint = *to
}

// errRedirected is an answer that sends the client, and so its credentials, elsewhere.
var errRedirected = errors.New("the server redirects to another host")

// sameHost lets a renamed repository redirect on its own host only.
func sameHost(req *http.Request, via []*http.Request) error {
	if req.URL.Host != via[0].URL.Host {
		return fmt.Errorf("%w, %s: give that address if it is right", errRedirected, clean(req.URL.Host))
	}
	return nil
}
