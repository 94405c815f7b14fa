package argo

import (
	"net/http"
	"testing"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config Config
		want   string
	}{
		"no server":     {Config{Token: "t"}, "server is missing: expected the host[:port] of Argo CD"},
		"http":          {Config{Server: "http://argocd.example.test", Token: "t"}, `server "http://argocd.example.test": expected host[:port] without http:// (HTTP without TLS must be allowed explicitly, as plaintext)`},
		"ftp":           {Config{Server: "ftp://argocd.example.test", Token: "t", Plaintext: true}, "without ftp://"},
		"path":          {Config{Server: "https://argocd.example.test/argo", Token: "t"}, `expected host[:port] without a path (use the root path for "/argo")`},
		"user":          {Config{Server: "https://admin:s3cret@argocd.example.test", Token: "t"}, `server "***@argocd.example.test": expected host[:port] without a user name`},
		"blank":         {Config{Server: "argocd example", Token: "t"}, `server "argocd example": expected host[:port]`},
		"bad port":      {Config{Server: "argocd:port", Token: "t"}, "expected host[:port]"},
		"root path":     {Config{Server: "a", Token: "t", RootPath: "https://a/b"}, `root path "https://a/b": expected a path such as /argo-cd`},
		"no token":      {Config{Server: "a", Token: " \n"}, "token is missing: expected a token of an Argo CD account or project role"},
		"token of two":  {Config{Server: "a", Token: "s3cret s3cret"}, "token: expected one word without blanks or line breaks"},
		"no CA":         {Config{Server: "a", Token: "t", CA: []byte("s3cret")}, "CA: expected one or more PEM certificates (-----BEGIN CERTIFICATE-----)"},
		"broken header": {Config{Server: "a", Token: "t", Headers: http.Header{"X-A": {"s3cret\r\nX-B: c"}}}, "header \"X-A\": expected `Name: value` on one line"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(test.config)
			wantError(t, err, test.want)
		})
	}
}

func TestBase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		config Config
		want   string
	}{
		{Config{Server: "argocd.example.test"}, "https://argocd.example.test"},
		{Config{Server: " https://argocd.example.test:8443/ "}, "https://argocd.example.test:8443"},
		{Config{Server: "http://localhost", Plaintext: true}, "http://localhost"},
		{Config{Server: "[::1]:8080", RootPath: "/argo-cd/"}, "https://[::1]:8080/argo-cd"},
		{Config{Server: "a", RootPath: "/"}, "https://a"},
	} {
		if got, err := test.config.base(); err != nil || got != test.want {
			t.Errorf("%v: got %q, %v, want %q", test.config, got, err, test.want)
		}
	}
}
