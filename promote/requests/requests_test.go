package requests_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/promote/requests"
)

const url = "http://candidate-shop.example.test/healthz?key=secret"

// to is a client that reaches the handler, whatever the URL's host.
func to(t *testing.T, handler http.HandlerFunc) *requests.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return at(t, server.Listener.Addr().String())
}

func at(t *testing.T, address string) *requests.Client {
	t.Helper()
	client := requests.Route{Connect: address}.Open()
	t.Cleanup(client.Close)
	return client
}

// TestGateway: what Envoy answers by itself is told from what a pod has answered.
func TestGateway(t *testing.T) {
	t.Parallel()
	const took = "X-Envoy-Upstream-Service-Time"
	for name, test := range map[string]struct {
		status int
		header http.Header
		body   string
		want   bool
	}{
		"Kourier without the route": {404, http.Header{"Server": {"envoy"}}, "", true},
		"Istio without the route":   {404, http.Header{"Server": {"istio-envoy"}}, "", true},
		"its redirect to https":     {301, http.Header{"Server": {"envoy"}, "Location": {"https://x"}}, "", true},
		"a pod's 404":               {404, http.Header{"Server": {"envoy"}, took: {"3"}}, "", false},
		"a pod's, not timed":        {404, http.Header{"Server": {"istio-envoy"}}, "404 page not found", false},
		"a pod's 204, not timed":    {204, http.Header{"Server": {"istio-envoy"}}, "", false},
		"without Envoy":             {404, http.Header{}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := to(t, func(w http.ResponseWriter, _ *http.Request) {
				maps.Copy(w.Header(), test.header)
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			answer := client.Get(t.Context(), url, io.Discard)
			if answer.Gateway != test.want || answer.Status != test.status || answer.Err != nil {
				t.Errorf("%+v, want %t", answer, test.want)
			}
			if says := strings.Contains(fmt.Sprint(answer.Fault(599)), "by the gateway itself"); says != test.want {
				t.Errorf("%v", answer.Fault(599))
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status, expect int
		want           string // the fault; empty: good
	}{
		"good":            {200, 0, ""},
		"any 2xx":         {204, 0, ""},
		"not 2xx":         {500, 0, "answered 500 Internal Server Error instead of a 2xx status"},
		"redirect":        {302, 0, "answered 302 Found instead of a 2xx status"},
		"wanted redirect": {302, 302, ""},
		"not the one":     {200, 204, "answered 200 OK instead of 204"},
		"no known status": {599, 0, "answered 599 instead of a 2xx status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var host string
			client := to(t, func(w http.ResponseWriter, r *http.Request) {
				host = r.Host
				w.Header().Set("Location", "http://elsewhere.example.test/")
				w.WriteHeader(test.status)
			})
			got := ""
			if fault := client.Get(t.Context(), url, io.Discard).Fault(test.expect); fault != nil {
				got = fault.Error()
			}
			if got != test.want || host != "candidate-shop.example.test" {
				t.Errorf("host %s: fault %q, want %q", host, got, test.want)
			}
		})
	}
}

// TestNoAnswer has a revision that ends the connection, which is its fault.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	client := to(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	answer := client.Get(t.Context(), url, io.Discard)
	if answer.Unsent != nil || answer.Err == nil || answer.Fault(0) == nil {
		t.Errorf("%+v, want an error of what was sent", answer)
	}
}

func TestAnswerThatBreaksOff(t *testing.T) {
	t.Parallel()
	client := to(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
	})
	answer := client.Get(t.Context(), url, io.Discard)
	if answer.Status != 200 || answer.Err == nil || !strings.HasPrefix(answer.Err.Error(), "reading the answer: ") {
		t.Errorf("%+v, want an answer that is not whole", answer)
	}
}

// TestAnswerWithoutEnd reads the first mebibyte of an endless body.
func TestAnswerWithoutEnd(t *testing.T) {
	t.Parallel()
	client := to(t, func(w http.ResponseWriter, _ *http.Request) {
		for chunk := bytes.Repeat([]byte("x"), 1<<16); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	var body bytes.Buffer
	if answer := client.Get(t.Context(), url, &body); answer.Fault(0) != nil || body.Len() != 1<<20 {
		t.Errorf("%+v with %d bytes", answer, body.Len())
	}
}

// TestAnswerThatSwitchesProtocols has a pod that goes on in another protocol, and says nothing in that: its answer has no body,
// and Go ends the reading of the connection with no context.
func TestAnswerThatSwitchesProtocols(t *testing.T) {
	t.Parallel()
	client := to(t, func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { connection.Close() })
		fmt.Fprint(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	})
	answer := client.Get(t.Context(), url, io.Discard)
	if err := answer.Fault(0); err == nil || err.Error() != "answered 101 Switching Protocols instead of a 2xx status" {
		t.Errorf("%+v: %v", answer, err)
	}
}

// TestUnsent has nobody who listens, a name that nobody knows, a certificate
// that nobody trusts, and a run that ends: none of it is the revision's fault.
func TestUnsent(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	secret := httptest.NewUnstartedServer(http.NotFoundHandler())
	secret.Config.ErrorLog = log.New(io.Discard, "", 0)
	secret.StartTLS()
	t.Cleanup(secret.Close)
	ended, end := context.WithCancelCause(t.Context())
	waiting := to(t, func(_ http.ResponseWriter, r *http.Request) {
		end(errors.New("the step is over"))
		<-r.Context().Done()
	})
	for name, test := range map[string]struct {
		ctx    context.Context
		client *requests.Client
		url    string
		want   string
	}{
		"refused":       {t.Context(), at(t, closed), url, "connection refused"},
		"unknown name":  {t.Context(), at(t, "no-such-host.invalid:80"), url, "no-such-host.invalid"},
		"not trusted":   {t.Context(), at(t, secret.Listener.Addr().String()), "https://shop.example.test/", "certificate"},
		"the run ends":  {ended, waiting, url, "the step is over"},
		"not a request": {t.Context(), waiting, "http://a b/?key=secret", "the address cannot be requested"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := test.client.Get(test.ctx, test.url, io.Discard)
			if answer.Unsent == nil || !strings.Contains(answer.Unsent.Error(), test.want) || answer.Fault(0) != answer.Unsent || strings.Contains(answer.Unsent.Error(), "secret") {
				t.Errorf("%+v, want unsent because of %s", answer, test.want)
			}
		})
	}
}

// TestLoadIsOpen has answers that take longer than the time between requests.
func TestLoadIsOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		var asked, answered atomic.Int64
		requests.Load{Path: "/", Rate: 5}.Run(ctx, func(context.Context) {
			asked.Add(1)
			time.Sleep(7 * time.Second)
			answered.Add(1)
		})
		if asked.Load() != 50 && asked.Load() != 51 || answered.Load() != asked.Load() {
			t.Errorf("asked %d times, %d answered, want 50 in 10 s at 5/s, and all answers", asked.Load(), answered.Load())
		}
	})
}
