package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/file"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"

	"github.com/acme/knative-promote/internal/httpx"
	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/internal/redact"
)

// Config says where the infra repository is and how to get in.
type Config struct {
	// URL is an https, http, ssh or file URL, user@host:path, or a local path
	// that starts with / or a dot. It holds no password.
	URL string
	// Branch is the name of the branch, such as main.
	Branch string
	// Token is sent as the password of HTTP basic authentication.
	Token string
	// Mint, unless nil, gives the token before each exchange with a server over
	// HTTP, in place of Token. Where it is ErrAuth, another try is pointless.
	Mint func(context.Context) (string, error)
	// SSHKey is a private key in PEM form, without a passphrase.
	SSHKey []byte
	// KnownHosts are lines as in ~/.ssh/known_hosts; ssh needs them.
	KnownHosts []byte
	// Timeout bounds one exchange with the server; zero: one minute.
	Timeout time.Duration
	// Patience is how long a server that has answered before is waited for when
	// it is away, as while it is restarted; zero: two minutes.
	Patience time.Duration
	// Around, unless nil, is put around what sends requests over HTTP, to see
	// them.
	Around func(http.RoundTripper) http.RoundTripper
	// Exchanged, unless nil, is told of each exchange that is not over HTTP: its
	// command, such as git-upload-pack, how long it took, and its error.
	Exchanged func(command string, took time.Duration, err error)
}

// Remote is the server's side of a repository: where it is, how it is spoken to.
type Remote struct {
	address   string // as the user wrote it; it holds no credential
	branch    plumbing.ReferenceName
	transport transport.Transport
	auth      transport.AuthMethod
	mint      func(context.Context) (string, error)
	exchanged func(command string, took time.Duration, err error)
	timeout   time.Duration
	patience  time.Duration // with a server that was there before
	answered  atomic.Bool   // it has answered a read
	pushed    atomic.Bool   // it has taken a push
	sent      redact.Secrets

	mu       sync.Mutex
	endpoint transport.Endpoint // moves along with a redirect
}

// New checks the address and the credentials, without network access. Of
// the references over HTTP it keeps those that are asked for, some that are needed, and some others to show.
func New(r Config, needed func(reference string) bool) (*Remote, error) {
	endpoint, err := parseAddress(r.URL)
	if err != nil {
		return nil, err
	}
	remote := &Remote{
		address: r.URL, branch: plumbing.NewBranchReferenceName(r.Branch), endpoint: *endpoint, exchanged: r.Exchanged,
		timeout: cmp.Or(r.Timeout, time.Minute), patience: cmp.Or(r.Patience, 2*time.Minute),
	}
	switch endpoint.Protocol {
	case "http", "https":
		sender := httpx.Default()
		if r.Around != nil {
			sender = r.Around(sender)
		}
		remote.exchanged = nil // Around sees each of its requests
		remote.transport = githttp.NewClient(&http.Client{
			Transport:     bounded{sender, needed},
			CheckRedirect: sameHost,
		})
		if remote.mint = r.Mint; r.Token != "" {
			remote.auth = remote.bearer(r.Token)
		}
	case "ssh":
		remote.transport = gitssh.NewClient(nil)
		if remote.auth, err = sshAuth(endpoint, r.SSHKey, r.KnownHosts); err != nil {
			return nil, fmt.Errorf("repository %q: %w", oneline.Brief(r.URL), err)
		}
	default:
		remote.transport = file.DefaultClient
	}
	return remote, nil
}

// bearer is how a token is sent; it is kept out of what is said from then on.
func (r *Remote) bearer(token string) transport.AuthMethod {
	r.sent.Add(token)
	return &githttp.BasicAuth{Username: "x-access-token", Password: token}
}

// credentials are those for the next exchange.
func (r *Remote) credentials(ctx context.Context) (transport.AuthMethod, error) {
	if r.mint == nil {
		return r.auth, nil
	}
	token, err := r.mint(ctx)
	if err != nil {
		return nil, err
	}
	return r.bearer(token), nil
}

// GivesByName tells whether the server gives out any commit by its name that is
// in a branch: over HTTP Git always does.
func (r *Remote) GivesByName(can *capability.List) bool {
	protocol := r.at().Protocol
	return protocol == "http" || protocol == "https" || can.Supports(capability.AllowReachableSHA1InWant)
}

// TookPush remembers that the branch shows what was pushed: a no from then on
// is one for a moment.
func (r *Remote) TookPush() { r.pushed.Store(true) }

// String is the address, fit for an error.
func (r *Remote) String() string { return oneline.Brief(r.address) }

// at returns a copy of the endpoint, because go-git writes redirects into it.
func (r *Remote) at() *transport.Endpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	endpoint := r.endpoint
	return &endpoint
}

// moved remembers where a redirect led, as go-git follows only the first
// request of a session.
func (r *Remote) moved(to *transport.Endpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endpoint = *to
}

// errRedirected is an answer that sends the client, and so its credentials, elsewhere.
var errRedirected = errors.New("the server redirects to another host")

// sameHost lets a renamed repository redirect on its own host only.
func sameHost(req *http.Request, via []*http.Request) error {
	if req.URL.Host != via[0].URL.Host {
		return fmt.Errorf("%w, %s: give that address if it is right", errRedirected, oneline.Brief(req.URL.Host))
	}
	return nil
}
