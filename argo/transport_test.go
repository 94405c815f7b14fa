package argo

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// answer is a handler with one answer.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// webFrame is a frame of grpc-web: 0 is a message, 0x80 the trailers.
func webFrame(kind byte, data string) string {
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(data)))
	return string(head) + data
}

func TestStrangersInPlaceOfArgoCD(t *testing.T) {
	t.Parallel()
	const web = "application/grpc-web+proto"
	tests := map[string]struct {
		handler http.HandlerFunc
		want    string
		is      error
	}{
		"login page":    {answer(200, "text/html; charset=utf-8", "<html><head><title>Sign in\n to Acme</title>"), `answered with a web page titled "Sign in to Acme" instead of Argo CD's API: a login page or a wrong address?`, nil},
		"other page":    {answer(200, "text/html", "<p>It works"), "answered with a web page instead of Argo CD's API", nil},
		"JSON":          {answer(200, "application/json", "{}"), `answered with content type "application/json": is this Argo CD?`, nil},
		"nothing":       {answer(200, "", ""), `the answer is empty (Unavailable)`, nil},
		"404":           {answer(404, "text/plain", "404 page not found"), "answered 404 Not Found: is this Argo CD, and is the root path right?", nil},
		"401":           {answer(401, "text/html", "<title>Login"), "something in front of Argo CD answered 401 Unauthorized", ErrAuth},
		"403":           {answer(403, "text/html", "<title>Login"), "something in front of Argo CD answered 403 Forbidden", ErrAuth},
		"502":           {answer(502, "text/html", "<title>Bad gateway"), "answered 502 Bad Gateway (Unavailable)", nil},
		"error trailer": {answer(200, web, webFrame(0x80, "grpc-status: 7\r\ngrpc-message: permission denied\r\n")), "permission denied", ErrAuth},
		"empty message, error trailer": {answer(200, web, webFrame(0, "")+webFrame(0x80, "grpc-status: 16\r\ngrpc-message: token expired\r\n")),
			"the token is wrong, expired or revoked: token expired", ErrAuth},
		"endless frame":  {answer(200, web, "\x00\xff\xff\xff\xff"+strings.Repeat("x", 1<<16)), "larger than configured max", nil},
		"page as frames": {answer(200, web, "<html><head>"), "larger than configured max", nil},
		"cut frame":      {answer(200, web, webFrame(0, "abcdef")[:8]), "(Internal)", nil},
		"no trailer":     {answer(200, web, webFrame(0, "")), "(Internal)", nil},
		"garbage":        {answer(200, web, webFrame(0, "\xff\xff\xff")+webFrame(0x80, "grpc-status: 0\r\n")), "(Internal)", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := dial(t, test.handler, func(c *Config) { c.Timeout = 300 * time.Millisecond })
			_, err := client.application(t.Context(), shop, noRefresh)
			wantError(t, err, test.want)
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is not %v", err, test.is)
			}
		})
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var visits atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(other.Close)
	for _, code := range []int{301, 302, 303, 307, 308} {
		redirect := http.RedirectHandler(other.URL+"/login?next=s3cret", code)
		_, err := dial(t, redirect, nil).Version(t.Context())
		wantError(t, err, "asking Argo CD for its version: Argo CD redirected to "+other.URL+": a login page or a wrong address?")
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("the other host was asked %d times", n)
	}
}

func TestBadGatewayHeals(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	api := (&apiServer{}).handler()
	client := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1) {
		case 1:
			w.WriteHeader(http.StatusBadGateway)
		case 2:
			panic(http.ErrAbortHandler) // the connection is reset
		default:
			api.ServeHTTP(w, r)
		}
	}), nil)
	if _, err := client.application(t.Context(), shop, noRefresh); err != nil {
		t.Error(err)
	}
}

func TestSilentServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
		}
	}()
	for _, plaintext := range []bool{true, false} {
		client, err := New(Config{Server: listener.Addr().String(), Token: "s3cret", Plaintext: plaintext, Timeout: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Version(t.Context()); err == nil {
			t.Errorf("plaintext %v: no error from a silent server", plaintext)
		}
	}
}

func TestEndlessAnswerEnds(t *testing.T) {
	t.Parallel()
	frame := []byte(webFrame(0, strings.Repeat("x", 1<<16)))
	for name, first := range map[string][]byte{"of many messages": frame, "of one message": {0, 0xff, 0xff, 0xff, 0xff}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			client := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/grpc-web+proto")
				_, _ = w.Write(first)
				for r.Context().Err() == nil {
					n, err := w.Write(frame)
					if sent.Add(int64(n)); err != nil {
						return
					}
				}
			}), func(c *Config) { c.Timeout = time.Minute })
			if _, err := client.application(t.Context(), shop, noRefresh); err == nil {
				t.Error("no error from an endless answer")
			}
			if n := sent.Load(); n > maxTries*(maxBody+maxMessage) {
				t.Errorf("took %d MiB", n>>20)
			}
		})
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	handler := (&apiServer{}).handler()
	_, err := dial(t, handler, func(c *Config) { c.CA = nil }).Version(t.Context())
	wantError(t, err, "(is its CA certificate given, as argocd-ca?)")
	// the test's certificate is for 127.0.0.1 and example.com
	_, err = dial(t, handler, func(c *Config) { c.Server = strings.Replace(c.Server, "127.0.0.1", "localhost", 1) }).Version(t.Context())
	wantError(t, err, "(is this the name in its certificate?)")
	if _, err := dial(t, handler, func(c *Config) { c.CA, c.Insecure = nil, true }).Version(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	var backend string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method + " " + r.Host)
		tunnel(t, w, backend)
	}))
	t.Cleanup(proxy.Close)
	client := dial(t, (&apiServer{}).handler(), func(c *Config) {
		backend = c.Server
		c.Server = "example.com" // as the test's certificate says, and nobody's address here
		c.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	})
	if _, err := client.Version(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := asked.Load(); got != "CONNECT example.com:443" {
		t.Errorf("the proxy was asked for %v", got)
	}
}

// tunnel joins a CONNECT request to a backend.
func tunnel(t *testing.T, w http.ResponseWriter, backend string) {
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	far, err := net.Dial("tcp", backend)
	if err != nil {
		t.Error(err)
		near.Close()
		return
	}
	io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	go func(in *bufio.Reader) { io.Copy(far, in); far.Close() }(buffered.Reader)
	io.Copy(near, far)
	near.Close()
}

func TestTitle(t *testing.T) {
	t.Parallel()
	long := "<title>" + strings.Repeat("x", 1<<20)
	for page, want := range map[string]string{
		"<TITLE lang=en>A &amp; B</TITLE>": ` titled "A &amp; B"`,
		"no title":                         "",
		long:                               "",
	} {
		if got := title(bytes.NewReader([]byte(page))); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
