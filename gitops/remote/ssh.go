package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing/transport"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"

	"github.com/acme/knative-promote/internal/oneline"
)

// sshAuth makes the credentials for a server whose key must be known: without
// that, anybody on the way could take its place.
func sshAuth(endpoint *transport.Endpoint, key, knownHosts []byte) (transport.AuthMethod, error) {
	if len(bytes.TrimSpace(key)) == 0 {
		return nil, errors.New("ssh needs a private key: set ssh-key to a deploy key that may write")
	}
	if len(bytes.TrimSpace(knownHosts)) == 0 {
		return nil, fmt.Errorf("ssh needs the server's host key: set ssh-known-hosts to the output of `ssh-keyscan %s`, after comparing it with what the host publishes", oneline.Brief(endpoint.Host))
	}
	user := endpoint.User
	if user == "" {
		user = gitssh.DefaultUsername
	}
	signer, err := signerOf(key)
	if err != nil {
		return nil, err
	}
	auth := &gitssh.PublicKeys{User: user, Signer: signer}
	return auth, setHostKeys(auth, endpoint, knownHosts)
}

// CheckSSHKey says why a private key cannot be used, and what is expected. The
// error does not show it.
func CheckSSHKey(key []byte) error {
	_, err := signerOf(key)
	return err
}

func signerOf(key []byte) (ssh.Signer, error) {
	// A key that went through a secret store often has CRLF or no last newline.
	key = append(bytes.TrimSpace(bytes.ReplaceAll(key, []byte("\r\n"), []byte("\n"))), '\n')
	signer, err := ssh.ParsePrivateKey(key)
	if _, missing := errors.AsType[*ssh.PassphraseMissingError](err); missing {
		return nil, errors.New("the ssh key is protected by a passphrase: expected a key without one")
	}
	if err != nil {
		return nil, errors.New("the ssh key cannot be read: expected a private key in PEM form, with its BEGIN and END lines")
	}
	return signer, nil
}

// CheckKnownHosts names the first line of known hosts that cannot be read, and
// what is expected in its place.
func CheckKnownHosts(text []byte) error {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if _, _, _, _, _, err := ssh.ParseKnownHosts(line); err != nil && !errors.Is(err, io.EOF) { // which a comment is
			return fmt.Errorf("line %d cannot be read: expected a host, the type of its key and the key in base64, as ssh-keyscan prints them", number)
		}
	}
	return nil
}

// setHostKeys goes through a file because known_hosts is only parsed from one.
func setHostKeys(auth *gitssh.PublicKeys, endpoint *transport.Endpoint, knownHosts []byte) error {
	f, err := os.CreateTemp("", "known_hosts")
	if err != nil {
		return fmt.Errorf("reading the known hosts: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(append(bytes.ReplaceAll(knownHosts, []byte("\r\n"), []byte("\n")), '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("reading the known hosts: %w", err)
	}
	db, err := gitssh.NewKnownHostsDb(f.Name())
	if err != nil {
		return errors.New("the known hosts cannot be read: expected lines as in ~/.ssh/known_hosts: HOST TYPE KEY")
	}
	port := endpoint.Port
	if port == 0 {
		port = gitssh.DefaultPort
	}
	auth.HostKeyCallback = db.HostKeyCallback()
	// The server must be asked for the kind of key that is known, or it may
	// show another one.
	auth.HostKeyAlgorithms = db.HostKeyAlgorithms(net.JoinHostPort(endpoint.Host, strconv.Itoa(port)))
	return nil
}
