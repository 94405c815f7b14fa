package httpx_test

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/internal/httpx"
)

// TestTransport asks a server with a certificate of its own, which redirects.
func TestTransport(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.RedirectHandler("https://login.example/path?secret=1", http.StatusFound))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for name, test := range map[string]struct {
		ca       []byte
		insecure bool
		trusted  bool
	}{
		"given":    {ca, false, true},
		"insecure": {nil, true, true},
		"unknown":  {nil, false, false},
	} {
		transport, err := httpx.Transport(test.ca, test.insecure, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(request)
		if (err == nil) != test.trusted {
			t.Errorf("%s: trusted %t, want %t (%v)", name, err == nil, test.trusted, err)
		}
		if err != nil {
			continue
		}
		answer.Body.Close()
		if to := httpx.RedirectsTo(answer); to != "https://login.example" {
			t.Errorf("%s: redirects to %s", name, to)
		}
	}
	if _, err := httpx.Transport([]byte("none"), false, time.Minute); err == nil || err.Error() != "expected one or more PEM certificates (-----BEGIN CERTIFICATE-----)" {
		t.Errorf("without a certificate in it: %v", err)
	}
}

// TestWhole has an answer in another protocol, which says nothing and has no end.
func TestWhole(t *testing.T) {
	t.Parallel()
	response, err := httpx.Whole{Next: switching{}}.RoundTrip(nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if response.Body.Close(); response.StatusCode != http.StatusSwitchingProtocols || len(body) > 0 || err != nil {
		t.Errorf("%s: %q, %v", response.Status, body, err)
	}
}

type switching struct{}

func (switching) RoundTrip(*http.Request) (*http.Response, error) {
	connection, _ := io.Pipe()
	return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: connection}, nil
}

// TestRefuseOthers has a library ask for what a file names, as with Go's own client, and us as ever. It is the last one here: it holds for the process.
func TestRefuseOthers(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	get := func(client http.RoundTripper) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.RoundTrip(request)
		if err == nil {
			answer.Body.Close()
		}
		return err
	}
	if err := get(http.DefaultTransport); err != nil {
		t.Fatal(err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	httpx.RefuseOthers()
	if err := get(http.DefaultTransport); err == nil || !strings.Contains(err.Error(), "nothing is fetched from "+server.Listener.Addr().String()) {
		t.Errorf("a library got %v", err)
	}
	if err := get(httpx.Default()); err != nil {
		t.Errorf("we got %v", err)
	}
}
