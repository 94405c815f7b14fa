package cluster

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// ingress is what Knative's networking layer is told to do and what it does.
type ingress struct {
	host                 string
	generation, observed int64
	wanted, programmed   []servingv1.TrafficTarget
}

// reconcileIngress programs the data path, one step after it was told to.
func (r *reconciler) reconcileIngress(k key, ingress ingress) {
	if ingress.observed == ingress.generation || r.write.ingresses[k] == nil || r.write.ingresses[k].generation != ingress.generation {
		return
	}
	ingress.observed, ingress.programmed = ingress.generation, ingress.wanted
	r.write.ingresses[k] = &ingress
	r.moved = true
}

// ServeHTTP is the data path: it answers as the revision that the request's host is split to, with
// the revision's name and its image. Of every hundred requests to a host each revision gets
// exactly its percentage, in an order that is random and the same at every run.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	namespace, name := c.route(host)
	if name == "" {
		http.Error(w, "no route for "+host, http.StatusNotFound)
		return
	}
	c.mu.Lock()
	rev := c.objects.revisions[key{namespace, name}]
	c.mu.Unlock()
	if rev == nil || !rev.IsReady() {
		http.Error(w, "no endpoints for "+name, http.StatusServiceUnavailable)
		return
	}
	c.answer(w, r, rev)
}

func (c *Cluster) answer(w http.ResponseWriter, r *http.Request, rev *servingv1.Revision) {
	behaviour := behaviourOf(rev)
	select {
	case <-r.Context().Done():
		return
	case <-time.After(behaviour.lag):
	}
	w.Header().Set("Content-Type", "application/json")
	if behaviour.http500 || behaviour.fail > 0 && c.number("answers of "+rev.Name) < behaviour.fail {
		w.WriteHeader(http.StatusInternalServerError)
	}
	// A client that went away is not the model's concern.
	_ = json.NewEncoder(w).Encode(map[string]string{"revision": rev.Name, "image": rev.Spec.Containers[0].Image})
}

// route returns the revision that takes the next request to host.
func (c *Cluster) route(host string) (namespace, revision string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, ingress := range c.objects.ingresses {
		if host == ingress.host {
			return k.namespace, split(ingress.programmed, c.sample(host))
		}
		tag, found := strings.CutSuffix(host, "-"+ingress.host)
		if !found {
			continue
		}
		for _, target := range ingress.programmed {
			if target.Tag == tag {
				return k.namespace, target.RevisionName
			}
		}
	}
	return "", ""
}

// number is a sample for somebody who has not locked the Cluster.
func (c *Cluster) number(of string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sample(of)
}

// sample returns a number below 100; of a hundred calls for a host each returns another one.
func (c *Cluster) sample(host string) int {
	if len(c.samples[host]) == 0 {
		c.samples[host] = c.pick.Perm(100)
	}
	next := c.samples[host][0]
	c.samples[host] = c.samples[host][1:]
	return next
}

func split(targets []servingv1.TrafficTarget, pick int) string {
	for _, target := range targets {
		if target.Percent == nil {
			continue
		}
		if pick -= int(*target.Percent); pick < 0 {
			return target.RevisionName
		}
	}
	return ""
}
