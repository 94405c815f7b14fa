package main

import (
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"knative.dev/serving/pkg/activator"
)

// backend is how a revision answers requests.
type backend struct {
	image     string
	behaviour behaviour
	ready     bool
}

// backends knows the revisions by namespace/name.
type backends interface {
	backend(revision string) (backend, bool)
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
	b, ok := d.backends.backend(name)
	began, status := time.Now(), http.StatusServiceUnavailable
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
	reply(w, status, answer{revision, b.image})
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
