package main

import (
	"maps"
	"net/http"
	"slices"
	"sync"

	netv1alpha1 "knative.dev/networking/pkg/apis/networking/v1alpha1"
)

// routes are the programmed KIngresses.
type routes struct {
	mu     sync.RWMutex
	byKey  map[string][]netv1alpha1.IngressRule
	byHost map[string][]netv1alpha1.HTTPIngressPath
}

func newRoutes() *routes {
	return &routes{byKey: map[string][]netv1alpha1.IngressRule{}, byHost: map[string][]netv1alpha1.HTTPIngressPath{}}
}

// program replaces what a KIngress said before.
func (r *routes) program(key string, rules []netv1alpha1.IngressRule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(key)
	r.byKey[key] = rules
	for _, rule := range rules {
		if rule.HTTP == nil {
			continue
		}
		for _, host := range rule.Hosts {
			r.byHost[host] = rule.HTTP.Paths
		}
	}
}

// drop removes what a KIngress said.
func (r *routes) drop(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(key)
}

func (r *routes) forget(key string) {
	for _, rule := range r.byKey[key] {
		for _, host := range rule.Hosts {
			delete(r.byHost, host)
		}
	}
	delete(r.byKey, key)
}

// split picks the backend of one request, given a random number below 100; false if no KIngress has the host.
func (r *routes) split(host string, header http.Header, random int) (netv1alpha1.IngressBackendSplit, bool) {
	r.mu.RLock()
	path, ok := choosePath(r.byHost[host], header)
	r.mu.RUnlock()
	if !ok {
		return netv1alpha1.IngressBackendSplit{}, false
	}
	return pick(path.Splits, random)
}

// choosePath takes the path with the most headers that the request has all of. Knative writes such paths for its
// feature tag-header-based-routing.
func choosePath(paths []netv1alpha1.HTTPIngressPath, header http.Header) (netv1alpha1.HTTPIngressPath, bool) {
	matching := slices.DeleteFunc(slices.Clone(paths), func(p netv1alpha1.HTTPIngressPath) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(p.Headers)), func(name string) bool {
			return header.Get(name) != p.Headers[name].Exact
		})
	})
	if len(matching) == 0 {
		return netv1alpha1.HTTPIngressPath{}, false
	}
	return slices.MaxFunc(matching, func(a, b netv1alpha1.HTTPIngressPath) int { return len(a.Headers) - len(b.Headers) }), true
}

// pick takes the split whose part of the 100 percent holds the random number.
func pick(splits []netv1alpha1.IngressBackendSplit, random int) (netv1alpha1.IngressBackendSplit, bool) {
	for _, s := range splits {
		if random -= s.Percent; random < 0 {
			return s, true
		}
	}
	return netv1alpha1.IngressBackendSplit{}, false
}
