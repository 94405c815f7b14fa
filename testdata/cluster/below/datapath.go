package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"knative.dev/pkg/logging"
	"knative.dev/serving/pkg/activator"
)

// backend is how a revision answers requests.
type backend struct {
	image     string
	behaviour behaviour
	ready     bool
	asleep    bool // scaled to zero
}

// backends knows the revisions by namespace/name.
type backends interface {
	backend(revision string) (backend, bool)
	wake(ctx context.Context, revision string) error // gives one that is scaled to zero a pod, not yet ready
}

// dataPath answers requests as the revision that their host is split to.
type dataPath struct {
	routes   *routes
	backends backends
	served   served
	stats    stats
}

// answer is the body of every answer that a revision gives.
type answer struct {
	Revision string `json:"revision"`
	Image    string `json:"image"`
	Score    int    `json:"score,omitempty"`
	Waited   bool   `json:"waited,omitempty"` // for a pod, since there was none
}

// ServeHTTP answers 404 for a host that no KIngress has, as a real ingress does.
func (d *dataPath) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	split, ok := d.routes.split(hostname(r.Host), r.Header, rand.IntN(100))
	if !ok {
		http.Error(w, "no KIngress has the host "+hostname(r.Host), http.StatusNotFound)
		return
	}
	revision := split.AppendHeaders[activator.RevisionHeaderName]
	name := split.ServiceNamespace + "/" + revision
	began, status := time.Now(), http.StatusServiceUnavailable
	b, ok := d.backends.backend(name)
	waited := b.asleep
	if waited {
		b, ok = d.woken(r.Context(), name)
	}
	if ok && b.ready {
		before, within := d.served.next(name, began)
		select {
		case <-time.After(b.behaviour.wait(before)):
			status = b.behaviour.answer(rand.IntN(1000), within)
		case <-r.Context().Done():
			return
		}
	}
	d.stats.count(name, status, time.Since(began))
	reply(w, status, answer{revision, b.image, b.behaviour.score, waited})
}

// woken wakes a revision and waits, no longer than the client does, until it has a ready pod or is gone.
func (d *dataPath) woken(ctx context.Context, name string) (backend, bool) {
	if err := d.backends.wake(ctx, name); err != nil {
		logging.FromContext(ctx).Warnw("waking a revision", "revision", name, "error", err)
	}
	for {
		b, ok := d.backends.backend(name)
		if !ok || b.ready {
			return b, ok
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return b, ok
		}
	}
}

func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}

// reply ignores that the client may be gone.
func reply(w http.ResponseWriter, status int, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a)
}
