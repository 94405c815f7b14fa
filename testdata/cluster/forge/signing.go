package forge

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"
)

// signingKey is the public half of the key that Gitea signs merges with, an SSH
// key; the private half is beside it, where ssh-keygen looks.
func (o Options) signingKey() string { return filepath.Join(o.Dir, "signing.pub") }

// makeSigningKey makes that key, where there is none yet.
func (o Options) makeSigningKey() error {
	if _, err := os.Stat(o.signingKey()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("making a signing key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return fmt.Errorf("making a signing key: %w", err)
	}
	shown, err := ssh.NewPublicKey(public)
	if err != nil {
		return fmt.Errorf("making a signing key: %w", err)
	}
	if err := os.WriteFile(filepath.Join(o.Dir, "signing"), pem.EncodeToMemory(block), 0o600); err != nil {
		return fmt.Errorf("keeping a signing key: %w", err)
	}
	if err := os.WriteFile(o.signingKey(), ssh.MarshalAuthorizedKey(shown), 0o600); err != nil {
		return fmt.Errorf("keeping a signing key: %w", err)
	}
	return nil
}

// Trust gives an account an armored OpenPGP key, whose address is to be the
// account's: Gitea verifies what is signed with it, and signs what the account
// merges.
func (f *Forge) Trust(ctx context.Context, user, armored string) error {
	return f.call(ctx, user, http.MethodPost, "/user/gpg_keys", map[string]string{"armored_public_key": armored}, nil)
}

// Verified tells whether Gitea takes a commit for signed by somebody it knows.
func (r *Repository) Verified(ctx context.Context, commit string) (bool, error) {
	var found struct {
		Commit struct {
			Verification struct {
				Verified bool `json:"verified"`
			} `json:"verification"`
		} `json:"commit"`
	}
	err := r.forge.call(ctx, Admin, http.MethodGet, r.path("/git/commits/%s", commit), nil, &found)
	return found.Commit.Verification.Verified, err
}
