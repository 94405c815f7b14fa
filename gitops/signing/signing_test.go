package signing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/gitops/signing"
	"github.com/acme/knative-promote/internal/fake/signingtest"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	encrypted := signingtest.OpenPGP(t, "ed25519", "correct horse")
	other := signingtest.OpenPGP(t, "ed25519", "")
	ssh := signingtest.SSH(t, "correct horse", "-t", "ed25519")
	const form = "expected one private key, whole: of gpg --armor --export-secret-keys, or of ssh-keygen"
	tests := map[string]struct {
		text, passphrase string
		at               time.Time
		want             string
	}{
		"nothing":                     {text: "hunter2", want: form},
		"a public OpenPGP key":        {text: other.Public, want: "OpenPGP key " + other.ID + " is there without its private part: export it with gpg --export-secret-subkeys or --export-secret-keys"},
		"a public SSH key":            {text: ssh.Public, want: form},
		"an OpenPGP key that was cut": {text: other.Private[:len(other.Private)/2], want: form},
		"an SSH key that was cut":     {text: ssh.Private[:len(ssh.Private)/2], want: form},
		"too long":                    {text: other.Private + strings.Repeat(" ", 1<<20), want: form},
		"OpenPGP, no passphrase":      {text: encrypted.Private, want: "the key is encrypted and there is no passphrase"},
		"OpenPGP, a wrong passphrase": {text: encrypted.Private, passphrase: "wrong", want: "the passphrase does not decrypt the key"},
		"SSH, no passphrase":          {text: ssh.Private, want: "the key is encrypted and there is no passphrase"},
		"SSH, a wrong passphrase":     {text: ssh.Private, passphrase: "wrong", want: "the passphrase does not decrypt the key"},
		"before the key was made":     {text: other.Private, at: time.Unix(0, 0), want: "OpenPGP key " + other.ID + " cannot sign now: it has expired, was revoked or is for other uses: give one that signs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := test.at
			if now.IsZero() {
				now = time.Now()
			}
			_, err := signing.Parse(test.text, test.passphrase, now)
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

// TestParsePasted has keys as they come out of a secret: with Windows' ends of
// lines, and with text around them.
func TestParsePasted(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]signingtest.Key{
		"OpenPGP": signingtest.OpenPGP(t, "ed25519", ""),
		"SSH":     signingtest.SSH(t, "", "-t", "ed25519"),
	} {
		for how, text := range map[string]string{
			"CRLF":      strings.ReplaceAll(key.Private, "\n", "\r\n"),
			"no end":    strings.TrimSpace(key.Private),
			"a comment": "# of the release bot\n" + key.Private,
			"text":      key.Private + "\nand more",
		} {
			got, err := signing.Parse(text, "", time.Now())
			if err != nil || got.ID != key.ID {
				t.Errorf("%s, %s: key %v, error %v", name, how, got, err)
				continue
			}
			if _, err := got.Sign([]byte("commit")); err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
}

// TestCanSign has a key that expires, and one that does not.
func TestCanSign(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key   signingtest.Key
		after time.Duration
		want  bool
	}{
		"before it expires":  {signingtest.Expiring(t, 24*3600), time.Hour, true},
		"after it expires":   {signingtest.Expiring(t, 24*3600), 48 * time.Hour, false},
		"one without an end": {signingtest.Subkey(t), 48 * time.Hour, true},
		"SSH":                {signingtest.SSH(t, "", "-t", "ed25519"), 48 * time.Hour, true},
	} {
		key, err := signing.Parse(test.key.Private, "", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if got := key.CanSign(time.Now().Add(test.after)); got != test.want {
			t.Errorf("%s: can sign: %v, want %v", name, got, test.want)
		}
	}
}
