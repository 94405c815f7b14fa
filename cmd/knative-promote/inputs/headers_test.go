package inputs

import (
	"io"
	"strings"
	"testing"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/internal/fake/consoletest"
)

// TestHeadersAreHidden tells secrets from words that stand everywhere.
func TestHeadersAreHidden(t *testing.T) {
	t.Parallel()
	for header, hidden := range map[string]bool{
		"Authorization: Bearer hunter":               true,
		"Cookie: production":                         true,
		"X-Api-Key: production":                      true,
		"X-Access-Token: production":                 true,
		"CF-Access-Client-Secret: production":        true,
		"CF-Access-Client-Id: 0123.access":           true,
		"X-Id: 3f9c2d1e":                             true,
		"X-Id: qWeRtZuI":                             true,
		"X-Id: KRSXG5CTMVRXEZLU":                     true,
		"X-Id: 12345678":                             true,
		"X-Id: correcthorsebatterystaple":            true,
		"X-Id: 9b2e7c52-57a1-4c3e-8d0e-0a4f8f0c8c11": true,
		"X-Env: production":                          false,
		"X-Region: eu-west-1":                        false,
		"X-Env: Production":                          false,
		"X-Forwarded-Host: argocd.example.com":       false,
		"X-Team: the shop team":                      false,
		"X-Forwarded-Proto: HTTP":                    false,
	} {
		r := console.New(consoletest.Environment(), io.Discard, io.Discard)
		r.Hide(Secrets(consoletest.Enough("INPUT_ARGOCD-HEADERS=" + header))...)
		_, value, _ := strings.Cut(header, ": ")
		if got := r.Redact("a " + value + " b"); (got == "a *** b") != hidden {
			t.Errorf("%s: the value in a text became %q, want it hidden: %t", header, got, hidden)
		}
	}
}

// TestPartsOfHeadersAreHidden has what a proxy may quote alone.
func TestPartsOfHeadersAreHidden(t *testing.T) {
	t.Parallel()
	r := console.New(consoletest.Environment(), io.Discard, io.Discard)
	r.Hide(Secrets(consoletest.Enough("INPUT_ARGOCD-HEADERS=Authorization: Bearer q7Hd02Kx\nCookie: session=9f8e7d6c; theme=dark"))...)
	if got, want := r.Redact("Bearer of q7Hd02Kx, 9f8e7d6c, dark"), "Bearer of ***, ***, dark"; got != want {
		t.Errorf("redacted to %q, want %q", got, want)
	}
}
