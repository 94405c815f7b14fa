// Package signing signs commits with an OpenPGP or an SSH key, as git
// verify-commit and the forges check them. It reads keys that somebody pasted
// into a secret, so its errors say what to paste, and never show a part of one.
package signing

import (
	"errors"
	"strings"
	"time"
)

// A Key is a private key that is ready to sign commits.
type Key struct {
	// ID names the key for people, and an OpenPGP key for Argo CD: its id of 16
	// hexadecimal digits, of the subkey where a subkey signs, or an SSH key's
	// fingerprint, SHA256:….
	ID string
	// OpenPGP says which of the two it is. Argo CD verifies no other signatures.
	OpenPGP bool

	sign    func(commit []byte) (string, error)
	canSign func(at time.Time) bool // nil: at any time
}

// Sign returns the signature of a commit object, armored as its header gpgsig
// holds it.
func (k *Key) Sign(commit []byte) (string, error) { return k.sign(commit) }

// CanSign tells whether the key can still sign at a time: an OpenPGP key may
// expire.
func (k *Key) CanSign(at time.Time) bool { return k.canSign == nil || k.canSign(at) }

// String is what the key is, for people.
func (k *Key) String() string {
	if k.OpenPGP {
		return "OpenPGP key " + k.ID
	}
	return "SSH key " + k.ID
}

// The errors of the passphrase, which is an input of its own.
var (
	// ErrNoPassphrase: the key is encrypted, and there is no passphrase.
	ErrNoPassphrase = errors.New("the key is encrypted and there is no passphrase")
	// ErrPassphrase: the passphrase does not decrypt the key.
	ErrPassphrase = errors.New("the passphrase does not decrypt the key")
)

var errForm = errors.New("expected one private key, whole: of gpg --armor --export-secret-keys, or of ssh-keygen")

// maxLength bounds a pasted key, in bytes. One of RSA with 16,384 bits, many names and
// signatures has less than a tenth of it.
const maxLength = 1 << 20

// Parse reads a private key, armored as GnuPG exports it or in PEM as OpenSSH
// and OpenSSL write it. The passphrase decrypts it and is empty where it is not
// encrypted. The key must be able to sign at the time of now.
func Parse(text, passphrase string, now time.Time) (*Key, error) {
	switch {
	case len(text) > maxLength:
		return nil, errForm
	case strings.Contains(text, "-----BEGIN PGP "):
		return parseOpenPGP(text, passphrase, now)
	}
	return parseSSH(text, passphrase)
}
