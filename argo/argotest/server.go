// Package argotest is an Argo CD API server over a model of a cluster with Knative, for tests and
// for trying the product out with nothing installed.
//
// It serves the real gRPC services of Argo CD v2.14 on its generated code, natively and as
// grpc-web, over TLS on loopback. Applications are compared with a bare Git repository on disk,
// rendered with kustomize and applied to the model by client-side three-way merge; Knative's own
// code defaults and validates what is applied, and Argo CD's own Lua judges the health. So the
// server is wrong where the real one is: it reports the health of the generation before for a
// while, it retries a refused commit while later ones wait, and it refuses a traffic change
// whose template leaves defaults out.
//
// Time is the server's own and can run faster than the wall clock's. Its timestamps may only be
// compared with one another, as with a real server whose clock is not ours.
package argotest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo/argotest/internal/cluster"
)

// Server is a running API server with its controllers, its cluster and the cluster's data path.
type Server struct {
	ca      []byte
	api     net.Listener
	data    net.Listener
	servers []*http.Server
	cluster *cluster.Cluster
	clock   cluster.Clock
	apps    []*stored
	faults  *faults
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// Start starts a server. The Applications with AutoSync begin to sync at once. Close stops it.
func Start(config Config) (*Server, error) {
	config = config.withDefaults()
	certificate, ca, err := selfSigned()
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	s := &Server{ca: ca, clock: cluster.NewClock(config.Speed), faults: &faults{}}
	s.cluster = cluster.New(config.cluster(s.clock))
	if s.api, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("listening for the API: %w", err)
	}
	if s.data, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, errors.Join(fmt.Errorf("listening for the data path: %w", err), s.api.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.goRun(func() { s.cluster.Run(ctx) })
	versions := &versions{}
	for _, app := range config.Apps {
		a := newStored(app, versions, s.clock)
		s.apps = append(s.apps, a)
		c := newController(a, config, s.cluster, s.clock)
		s.goRun(func() { c.refresh(ctx) })
		s.goRun(func() { c.operate(ctx) })
	}
	s.serve(ctx, config, certificate)
	return s, nil
}

func (s *Server) serve(ctx context.Context, config Config, certificate tls.Certificate) {
	base := func(net.Listener) context.Context { return ctx }
	api := &http.Server{
		Handler:     config.Middleware(s.handler(config.Token)),
		TLSConfig:   &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}},
		BaseContext: base, ErrorLog: discard(), ReadHeaderTimeout: time.Minute,
	}
	data := &http.Server{Handler: s.cluster, BaseContext: base, ErrorLog: discard(), ReadHeaderTimeout: time.Minute}
	s.servers = []*http.Server{api, data}
	// Both return when Close closes the servers.
	s.goRun(func() { _ = api.ServeTLS(s.api, "", "") })
	s.goRun(func() { _ = data.Serve(s.data) })
}

func (s *Server) goRun(f func()) {
	s.done.Add(1)
	go func() {
		defer s.done.Done()
		f()
	}()
}

// Close stops the server and waits until nothing of it runs any more.
func (s *Server) Close() {
	s.stop()
	for _, server := range s.servers {
		_ = server.Close() // its listener is closed in any case
	}
	s.done.Wait()
}

// Addr returns host:port of the API.
func (s *Server) Addr() string { return s.api.Addr().String() }

// CA returns the PEM certificate that the API's certificate is checked with.
func (s *Server) CA() []byte { return append([]byte(nil), s.ca...) }

// Ingress returns host:port of the data path, which routes by the Host header.
func (s *Server) Ingress() string { return s.data.Addr().String() }

// Service returns a copy of the live Service, or nil when there is none.
func (s *Server) Service(namespace, name string) *servingv1.Service {
	return s.cluster.Service(namespace, name)
}

// Traffic returns what the data path of a Service does now, whatever statuses say.
func (s *Server) Traffic(namespace, name string) []servingv1.TrafficTarget {
	return s.cluster.Routing(namespace, name)
}
