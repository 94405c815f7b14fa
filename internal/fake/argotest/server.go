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
// Not modelled: garbage collection of revisions, scaling to zero, gradual rollouts, waves, and hooks but those that fail before and after a sync,
// server-side apply, several sources, ignored differences, RBAC beyond one token and what it is
// denied, and the races that a busy cluster adds. Kinds other than Knative's Service are stored as they are applied.
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

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

// Server is a running API server with its controllers, its cluster and the cluster's data path.
type Server struct {
	ca       []byte
	api      net.Listener
	data     net.Listener
	servers  []*http.Server
	cluster  *cluster.Cluster
	clock    cluster.Clock
	apps     []*stored
	faults   *faults
	projects *projects
	pods     pods
	stop     context.CancelFunc
	done     sync.WaitGroup
	calls    sync.RWMutex // read-locked by every request
}

// Start starts a server. The Applications with AutoSync begin to sync at once. Close stops it.
func Start(config Config) (*Server, error) {
	config = config.withDefaults()
	certificate, ca, err := selfSigned()
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	s := &Server{ca: ca, clock: cluster.NewClock(config.Speed), faults: &faults{}, projects: newProjects(config)}
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
		c := newController(a, s.projects, config, s.cluster, s.clock)
		s.goRun(func() { c.refresh(ctx) })
		s.goRun(func() { c.operate(ctx) })
	}
	s.serve(ctx, config, certificate)
	return s, nil
}

func (s *Server) serve(ctx context.Context, config Config, certificate tls.Certificate) {
	base := func(net.Listener) context.Context { return ctx }
	api := &http.Server{
		Handler:     s.counted(config.Middleware(s.handler(config))),
		TLSConfig:   &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}},
		BaseContext: base, ErrorLog: discard(), ReadHeaderTimeout: time.Minute,
	}
	data := &http.Server{Handler: s.counted(config.Ingress(s.cluster)), BaseContext: base, ErrorLog: discard(), ReadHeaderTimeout: time.Minute}
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
	s.calls.Lock() // the last request has returned
	defer s.calls.Unlock()
}

// counted lets Close wait for the requests that are being answered.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.RLock()
		defer s.calls.RUnlock()
		next.ServeHTTP(w, r)
	})
}
