package gitops_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/signing"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/internal/fake/signingtest"
)

// TestPublishSigned has Git itself verify the commits.
func TestPublishSigned(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(*testing.T) signingtest.Key{
		"OpenPGP RSA": func(t *testing.T) signingtest.Key { return signingtest.OpenPGP(t, "rsa3072", "") },
		"OpenPGP Ed25519, with a passphrase": func(t *testing.T) signingtest.Key {
			return signingtest.OpenPGP(t, "ed25519", "correct horse")
		},
		"OpenPGP subkey alone":                   func(t *testing.T) signingtest.Key { return signingtest.Subkey(t) },
		"OpenPGP, the newer subkey is elsewhere": func(t *testing.T) signingtest.Key { return signingtest.OldSubkey(t) },
		"SSH Ed25519":                            func(t *testing.T) signingtest.Key { return signingtest.SSH(t, "", "-t", "ed25519") },
		"SSH RSA, in PEM":                        func(t *testing.T) signingtest.Key { return signingtest.SSH(t, "", "-t", "rsa", "-m", "PEM") },
		"SSH ECDSA, with a passphrase": func(t *testing.T) signingtest.Key {
			return signingtest.SSH(t, "correct horse", "-t", "ecdsa")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := made(t)
			signer, err := signing.Parse(key.Private, key.Passphrase, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if signer.ID != key.ID {
				t.Errorf("the key is %s, want %s", signer.ID, key.ID)
			}
			s := serve(t, gittest.Repository{}, infra(), nil)
			repo := s.open(t)
			repo.Sign = signer.Sign
			made, err := repo.Publish(t.Context(), write("apps/web/overlays/prod/k.yaml", "signed"))
			if err != nil {
				t.Fatal(err)
			}
			verify(t, s, key, made)
			s.git(t, "fsck", "--strict")
			if tip, err := s.open(t).Tip(t.Context()); err != nil || tip.Commit.Subject != made.Subject {
				t.Errorf("read again it is %q, %v", tip.Commit.Subject, err)
			}
		})
	}
}

func verify(t *testing.T, s server, key signingtest.Key, made gitops.Commit) {
	t.Helper()
	signers := filepath.Join(t.TempDir(), "signers")
	if err := os.WriteFile(signers, []byte("bot@example.com "+key.Public), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("git", "-c", "gpg.ssh.allowedSignersFile="+signers, "verify-commit", "--raw", made.Hash)
	c.Dir, c.Env = s.dir, append(os.Environ(), "GNUPGHOME="+key.Home)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("git verify-commit: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), key.ID) {
		t.Errorf("Git names another key than %s:\n%s", key.ID, out)
	}
}
