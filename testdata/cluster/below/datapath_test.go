package main

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	netv1alpha1 "knative.dev/networking/pkg/apis/networking/v1alpha1"
)

// splitTo is a part of a KIngress as Knative writes it.
func splitTo(revision string, percent int) netv1alpha1.IngressBackendSplit {
	return netv1alpha1.IngressBackendSplit{
		IngressBackend: netv1alpha1.IngressBackend{ServiceNamespace: "production", ServiceName: revision},
		Percent:        percent, AppendHeaders: map[string]string{"Knative-Serving-Revision": revision},
	}
}

func ruleFor(host string, paths ...netv1alpha1.HTTPIngressPath) netv1alpha1.IngressRule {
	return netv1alpha1.IngressRule{Hosts: []string{host}, HTTP: &netv1alpha1.HTTPIngressRuleValue{Paths: paths}}
}

func pathTo(splits ...netv1alpha1.IngressBackendSplit) netv1alpha1.HTTPIngressPath {
	return netv1alpha1.HTTPIngressPath{Splits: splits}
}

func TestPickIsExact(t *testing.T) {
	t.Parallel()
	splits := []netv1alpha1.IngressBackendSplit{splitTo("old", 85), splitTo("candidate", 10), splitTo("previous", 0), splitTo("other", 5)}
	got := map[string]int{}
	for random := range 100 {
		split, ok := pick(splits, random)
		if !ok {
			t.Fatalf("no split for %d", random)
		}
		got[split.ServiceName]++
	}
	if want := map[string]int{"old": 85, "candidate": 10, "other": 5}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRoutesFollowTheIngress(t *testing.T) {
	t.Parallel()
	r := newRoutes()
	r.program("production/shop", []netv1alpha1.IngressRule{
		ruleFor("shop.example.test", pathTo(splitTo("old", 100))), ruleFor("candidate-shop.example.test", pathTo(splitTo("new", 100))),
	})
	r.program("production/shop", []netv1alpha1.IngressRule{ruleFor("shop.example.test", pathTo(splitTo("new", 100)))})
	if split, ok := r.split("shop.example.test", nil, 0); !ok || split.ServiceName != "new" {
		t.Errorf("got %q, %t, want new", split.ServiceName, ok)
	}
	if _, ok := r.split("candidate-shop.example.test", nil, 0); ok {
		t.Error("a host that the KIngress has no more still answers")
	}
	r.drop("production/shop")
	if _, ok := r.split("shop.example.test", nil, 0); ok {
		t.Error("a host of a deleted KIngress still answers")
	}
}

func TestTagHeader(t *testing.T) {
	t.Parallel()
	tagged := pathTo(splitTo("new", 100))
	tagged.Headers = map[string]netv1alpha1.HeaderMatch{"Knative-Serving-Tag": {Exact: "candidate"}}
	r := newRoutes()
	r.program("production/shop", []netv1alpha1.IngressRule{ruleFor("shop.example.test", pathTo(splitTo("old", 100)), tagged)})
	for tag, want := range map[string]string{"": "old", "previous": "old", "candidate": "new"} {
		split, _ := r.split("shop.example.test", http.Header{"Knative-Serving-Tag": {tag}}, 0)
		if split.ServiceName != want {
			t.Errorf("tag %q: got %s, want %s", tag, split.ServiceName, want)
		}
	}
}

// fixedBackends are backends that never change.
type fixedBackends map[string]backend

func (f fixedBackends) backend(revision string) (backend, bool) {
	b, ok := f[revision]
	return b, ok
}

func (f fixedBackends) wake(context.Context, string) error { return nil }

func TestDataPath(t *testing.T) {
	t.Parallel()
	revisions := map[string]backend{
		"good": {image: "shop:v1", behaviour: behaviour{status: 200}, ready: true},
		"down": {image: "shop:v2", behaviour: behaviour{status: 200}},
		"bad":  {image: "shop:v3-http500", behaviour: behaviour{status: 500}, ready: true},
		"best": {image: "shop:v4-score95", behaviour: behaviour{status: 200, score: 95}, ready: true},
	}
	known, r := fixedBackends{}, newRoutes()
	for _, name := range append(slices.Collect(maps.Keys(revisions)), "deleted") {
		r.program("production/"+name, []netv1alpha1.IngressRule{ruleFor(name+".example.test", pathTo(splitTo(name, 100)))})
	}
	for name, b := range revisions {
		known["production/"+name] = b
	}
	for host, want := range map[string]struct {
		status int
		body   string
	}{
		"good.example.test":    {200, `{"revision":"good","image":"shop:v1"}`},
		"good.example.test:80": {200, `{"revision":"good","image":"shop:v1"}`},
		"down.example.test":    {503, `{"revision":"down","image":"shop:v2"}`},
		"bad.example.test":     {500, `{"revision":"bad","image":"shop:v3-http500"}`},
		"best.example.test":    {200, `{"revision":"best","image":"shop:v4-score95","score":95}`},
		"deleted.example.test": {503, `{"revision":"deleted","image":""}`},
		"other.example.test":   {404, `no KIngress has the host other.example.test`},
	} {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Host = host
		response := httptest.NewRecorder()
		(&dataPath{routes: r, backends: known}).ServeHTTP(response, request)
		if body := strings.TrimSpace(response.Body.String()); response.Code != want.status || body != want.body {
			t.Errorf("%s: got %d %s, want %d %s", host, response.Code, body, want.status, want.body)
		}
	}
}

// sleeping is one revision, scaled to zero until it is woken.
type sleeping struct{ awake *bool }

func (s sleeping) backend(string) (backend, bool) {
	return backend{image: "shop:v1", behaviour: behaviour{status: 200}, ready: *s.awake, asleep: !*s.awake}, true
}

func (s sleeping) wake(context.Context, string) error {
	*s.awake = true
	return nil
}

// TestRequestWaitsForAPod: of a revision that is scaled to zero only the first request waits.
func TestRequestWaitsForAPod(t *testing.T) {
	t.Parallel()
	r := newRoutes()
	r.program("production/shop", []netv1alpha1.IngressRule{ruleFor("shop.example.test", pathTo(splitTo("new", 100)))})
	path := &dataPath{routes: r, backends: sleeping{new(bool)}}
	for _, want := range []string{`{"revision":"new","image":"shop:v1","waited":true}`, `{"revision":"new","image":"shop:v1"}`} {
		request, response := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
		request.Host = "shop.example.test"
		path.ServeHTTP(response, request)
		if body := strings.TrimSpace(response.Body.String()); response.Code != 200 || body != want {
			t.Errorf("got %d %s, want 200 %s", response.Code, body, want)
		}
	}
}
