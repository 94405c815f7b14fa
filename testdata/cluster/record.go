package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/acme/knative-promote/internal/fake/strays"
	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// record stands before servers, each NAME=LISTEN=URL, and notes below a folder which of them
// were sent a credential that is for others.
func record(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("record: expected a folder and servers, got %q", args)
	}
	b := plane.Credentials{Dir: args[0]}
	watch := &strays.Watch{Credentials: remembered(b), Found: func(stray string) {
		if err := b.Stray(stray); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}}
	all, ctx := errgroup.WithContext(ctx)
	for _, arg := range args[1:] {
		name, rest, _ := strings.Cut(arg, "=")
		listen, target, _ := strings.Cut(rest, "=")
		to, err := url.Parse(target)
		if err != nil {
			return fmt.Errorf("record: %q: %w", arg, err)
		}
		all.Go(func() error { return serveRecorded(ctx, listen, to, watch.Handler(name, passedOn(to)), b) })
	}
	return all.Wait()
}

// remembered reads the credentials again when there are more.
func remembered(from plane.Credentials) func() []strays.Credential {
	var (
		mu   sync.Mutex
		size int64
		all  []strays.Credential
	)
	return func() []strays.Credential {
		mu.Lock()
		defer mu.Unlock()
		if now := from.Size(); now != size {
			size, all = now, from.All()
		}
		return all
	}
}

// passedOn is the server itself. Where it is away, the connection ends.
func passedOn(to *url.URL) http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // its certificate is the one that is shown
	transport.MaxIdleConnsPerHost = 64
	transport.DisableCompression = true
	return &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // answers that are streams
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		},
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, err error) {
			if !errors.Is(err, context.Canceled) {
				fmt.Fprintln(os.Stderr, r.Method, r.URL.Path, err)
			}
			panic(http.ErrAbortHandler)
		},
	}
}

// serveRecorded serves until it is told to end, with Argo CD's certificate where the server
// itself speaks TLS.
func serveRecorded(ctx context.Context, listen string, to *url.URL, handler http.Handler, from plane.Credentials) error {
	server := &http.Server{Addr: listen, Handler: handler}
	context.AfterFunc(ctx, func() { server.Close() })
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	if to.Scheme == "https" {
		server.TLSConfig = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return from.Certificate() }}
		err = server.ServeTLS(listener, "", "")
	} else {
		err = server.Serve(listener)
	}
	if ctx.Err() == nil {
		return err
	}
	return nil
}
