package gitops_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// key is a pair of ssh keys.
type key struct {
	signer  ssh.Signer
	private []byte // PEM
}

func newKey(t *testing.T) key {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return key{signer, pem.EncodeToMemory(block)}
}

// knownHost is the line of a server with this key.
func (k key) knownHost(addr string) []byte {
	return []byte(knownhosts.Line([]string{knownhosts.Normalize(addr)}, k.signer.PublicKey()))
}

// serveSSH runs an ssh server for git that lets one user key in, only to read
// if there is something to say to writers.
func serveSSH(t *testing.T, host, user key, refusal ...string) (addr string) {
	t.Helper()
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, offered ssh.PublicKey) (*ssh.Permissions, error) {
		if bytes.Equal(offered.Marshal(), user.signer.PublicKey().Marshal()) {
			return nil, nil
		}
		return nil, errors.New("unknown key")
	}}
	config.AddHostKey(host.signer)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveConn(conn, config, strings.Join(refusal, ""))
		}
	}()
	return listener.Addr().String()
}

func serveConn(conn net.Conn, config *ssh.ServerConfig, refusal string) {
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		for request := range requests {
			var command struct{ Line string }
			if request.Type != "exec" || ssh.Unmarshal(request.Payload, &command) != nil {
				_ = request.Reply(false, nil)
				continue
			}
			_ = request.Reply(true, nil)
			if refusal != "" && strings.HasPrefix(command.Line, "git-receive-pack") {
				command.Line = "echo '" + refusal + "' >&2; exit 1"
			}
			go run(channel, command.Line)
		}
	}
}

// run is the shell of the git user.
func run(channel ssh.Channel, line string) {
	defer func() { _ = channel.Close() }()
	cmd := exec.Command("sh", "-c", line)
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	stdin, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	go func() {
		_, _ = io.Copy(stdin, channel)
		_ = stdin.Close()
	}()
	status := struct{ Code uint32 }{}
	if cmd.Wait() != nil {
		status.Code = 1
	}
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(status))
}

func TestSSH(t *testing.T) {
	t.Parallel()
	host, user := newKey(t), newKey(t)
	addr := serveSSH(t, host, user)
	for name, made := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, made, infra(), nil)
			s.grow(t, 50)
			r := open(t, remote.Config{
				URL: "ssh://git@" + addr + s.dir, Branch: "main", KnownHosts: host.knownHost(addr),
				// As a secret store may give it back.
				SSHKey: bytes.ReplaceAll(bytes.TrimSpace(user.private), []byte("\n"), []byte("\r\n")),
			})
			if _, err := r.Publish(t.Context(), write("new", "x")); err != nil {
				t.Fatal(err)
			}
			if _, err := r.At(t.Context(), s.git(t, "rev-parse", "main~45")); err != nil {
				t.Error(err)
			}
			if got := s.git(t, "show", "main:new"); got != "x" {
				t.Errorf("the file holds %q", got)
			}
		})
	}
}

// TestExchanged looks that each exchange over ssh is told of with its command
// and how it ended.
func TestExchanged(t *testing.T) {
	t.Parallel()
	host, user := newKey(t), newKey(t)
	addr := serveSSH(t, host, user)
	hook := gittest.Repository{Hooks: map[string]string{"pre-receive": "exit 1"}}
	var told []string
	r := open(t, remote.Config{
		URL: "ssh://git@" + addr + serve(t, hook, infra(), nil).dir, Branch: "main", SSHKey: user.private, KnownHosts: host.knownHost(addr),
		Exchanged: func(command string, _ time.Duration, err error) { told = append(told, fmt.Sprint(command, ": ", err)) },
	})
	if _, err := r.Publish(t.Context(), write("new", "x")); !errors.Is(err, remote.ErrRefused) {
		t.Fatal(err)
	}
	for _, want := range []string{"git-upload-pack: <nil>", "git-receive-pack: refused: pre-receive hook declined"} {
		if !slices.Contains(told, want) {
			t.Errorf("told of %q, want %q", told, want)
		}
	}
}

func TestSSHRefusal(t *testing.T) {
	t.Parallel()
	host, user := newKey(t), newKey(t)
	addr := serveSSH(t, host, user)
	hook := gittest.Repository{Hooks: map[string]string{"pre-receive": "echo 'only by pull request' >&2; exit 1"}}
	s := serve(t, hook, infra(), nil)
	url := "ssh://git@" + addr + s.dir
	_, err := open(t, remote.Config{URL: url, Branch: "main", SSHKey: user.private, KnownHosts: host.knownHost(addr)}).
		Publish(t.Context(), write("new", "x"))
	want := "pushing to " + url + ": refused by the server: pre-receive hook declined: only by pull request: let the token's owner push to the branch, or change the rule"
	if !errors.Is(err, remote.ErrRefused) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestSSHErrors(t *testing.T) {
	t.Parallel()
	host, user, other := newKey(t), newKey(t), newKey(t)
	addr := serveSSH(t, host, user)
	dir := serve(t, gittest.Repository{}, infra(), nil).dir
	tests := map[string]struct {
		path       string
		knownHosts []byte
		key        key
		is         error
		want       string
	}{
		"unknown host": {dir, host.knownHost("example.com:22"), user, remote.ErrAuth,
			"access denied: the server's host key is not in ssh-known-hosts: add the line that `ssh-keyscan` prints for it"},
		"other host key": {dir, other.knownHost(addr), user, remote.ErrAuth,
			"access denied: the server shows another host key than ssh-known-hosts has"},
		"other user key": {dir, host.knownHost(addr), other, remote.ErrAuth,
			"access denied: check that the token or key is valid and may read and write the repository"},
		"no repository": {"/absent/infra.git", host.knownHost(addr), user, remote.ErrNotFound,
			"not found: check the address, and that the token or key may see it"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := remote.Config{URL: "ssh://git@" + addr + test.path, Branch: "main", SSHKey: test.key.private, KnownHosts: test.knownHosts}
			_, err := open(t, remote).Tip(t.Context())
			if !errors.Is(err, test.is) || !strings.HasPrefix(err.Error(), "reading "+remote.URL+": "+test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestSSHOpenErrors(t *testing.T) {
	t.Parallel()
	user := newKey(t)
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), "", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	known := user.knownHost("h:22")
	tests := map[string]remote.Config{
		"ssh needs a private key: set ssh-key to a deploy key that may write":                                                                    {KnownHosts: known},
		"ssh needs the server's host key: set ssh-known-hosts to the output of `ssh-keyscan h`, after comparing it with what the host publishes": {SSHKey: user.private},
		"the ssh key is protected by a passphrase: expected a key without one":                                                                   {SSHKey: pem.EncodeToMemory(locked), KnownHosts: known},
		"the ssh key cannot be read: expected a private key in PEM form, with its BEGIN and END lines":                                           {SSHKey: []byte("s3cr3t"), KnownHosts: known},
		"the known hosts cannot be read: expected lines as in ~/.ssh/known_hosts: HOST TYPE KEY":                                                 {SSHKey: user.private, KnownHosts: []byte("h s3cr3t")},
	}
	for want, remote := range tests {
		remote.URL, remote.Branch = "git@h:acme/infra.git", "main"
		want = `repository "git@h:acme/infra.git": ` + want
		if _, err := gitops.Open(remote); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
