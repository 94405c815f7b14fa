package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/redact"
)

// TestSecretsInEveryForm prints a secret as it may come back from outside.
func TestSecretsInEveryForm(t *testing.T) {
	t.Parallel()
	const testKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0LXNlY3JldC1zZWNyZXQ=\n-----END OPENSSH PRIVATE KEY-----"
	const secret, needle = `gh/s_"Se+cr&et%<t0ken>`, "t0ken" // which no form escapes
	secrets := redact.Of(secret, testKey)
	quoted, err := json.Marshal("Bearer " + secret)
	if err != nil {
		t.Fatal(err)
	}
	user := url.URL{Scheme: "https", Host: "github.com", User: url.UserPassword("x", secret)}
	for _, text := range []string{
		secret, "Bearer " + secret, "token=" + url.QueryEscape(secret), url.PathEscape(secret), string(quoted), strconv.Quote("Bearer " + secret), user.String(),
		"load key: " + testKey, strings.ReplaceAll(testKey, "\n", "\r\n"), strings.ReplaceAll(testKey, "\n", `\n`),
	} {
		if got := secrets.Hide(text); strings.Contains(got, needle) || strings.Contains(got, "c2VjcmV0") {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// FuzzBase64 hides a secret inside the base64 text of anything around it.
func FuzzBase64(f *testing.F) {
	f.Add("x-access-token:", "ghs_0123456789abcdef", "")
	f.Add("git:", "0123456789abcdef!", "\n")
	f.Add("", "\xff\xfe\xfd0123456789abcdef", "more")
	f.Fuzz(func(t *testing.T, before, secret, after string) {
		if len(secret) < 16 || strings.TrimSpace(secret) != secret || strings.Contains(secret, "\n") || strings.HasPrefix(secret, "-----") {
			return
		}
		secrets := redact.Of(secret)
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			text := encoding.EncodeToString([]byte(before + secret + after))
			if got := secrets.Hide(text); !strings.Contains(got, "***") {
				t.Errorf("%q in %q stays in %q", secret, text, got)
			}
		}
	})
}

func TestShortSecretsDoNotRuinTheLog(t *testing.T) {
	t.Parallel()
	secrets := redact.Of("", " ", "a", "abc")
	if got := secrets.Hide("a b abc"); got != "a b abc" {
		t.Errorf("redacted to %q", got)
	}
}
