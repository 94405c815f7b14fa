package analysis_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/analysis/template"
	"github.com/acme/knative-promote/promote/prometheus"
)

// TestWorkflowsHeaders holds what a template may say where the workflow's headers go along, and that nothing is sent
// where it says more.
func TestWorkflowsHeaders(t *testing.T) {
	t.Parallel()
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked += fmt.Sprintf("%s %s %s ", r.Host, r.Header.Get("Authorization"), r.Header.Get("X-Scope-OrgID"))
		_, _ = fmt.Fprint(w, `{"status": "success", "data": {"resultType": "scalar", "result": [1, "1"]}}`)
	}))
	defer server.Close()
	const secret = "Bearer workflow"
	ours := prometheus.Config{Address: server.URL, Headers: http.Header{"Authorization": {secret}, "X-Scope-Orgid": {"shop"}}}
	host := strings.TrimPrefix(server.URL, "http://")
	header := func(key string) template.Prometheus {
		return template.Prometheus{Headers: []template.Header{{Key: key, Value: "eve"}}}
	}
	const along = "prometheus-headers of the workflow go along with it"
	for name, test := range map[string]struct {
		ask   template.Prometheus
		ours  prometheus.Config
		asked string
		err   string
	}{
		"nothing more":                 {template.Prometheus{}, ours, host + " Bearer workflow shop ", ""},
		"a host":                       {header("Host"), ours, "", "headers: Host: " + along},
		"a host in small letters":      {header("hOST"), ours, "", "headers: hOST: " + along},
		"a forwarded host":             {header("X-Forwarded-Host"), ours, "", "headers: X-Forwarded-Host: " + along},
		"Envoy's host":                 {header("X-Envoy-Original-Dst-Host"), ours, "", along},
		"HTTP/2's host":                {header(":authority"), ours, "", along},
		"another path":                 {header("X-Original-URL"), ours, "", along},
		"a header for a proxy":         {header("Proxy-Authorization"), ours, "", along},
		"another tenant":               {header("x-scope-orgID"), ours, "", "headers: x-scope-orgID: prometheus-headers of the workflow say it"},
		"any certificate":              {template.Prometheus{Insecure: true}, ours, "", "insecure: true: prometheus-headers of the workflow are for a server whose certificate is checked"},
		"a credential of its own":      {header("authorization"), ours, host + " eve shop ", ""},
		"an authentication of its own": {template.Prometheus{Authentication: template.Authentication{BasicAuth: template.BasicAuth{Username: "me", Password: "pass"}}}, ours, host + " Basic bWU6cGFzcw== shop ", ""},
		"an address of its own":        {template.Prometheus{Address: server.URL + "/own", Insecure: true, Headers: header("Host").Headers}, ours, "eve   ", ""},
		"a workflow without any":       {header("Host"), prometheus.Config{Address: server.URL}, "eve   ", ""},
		"a tenant, where none is said": {header("X-Scope-OrgID"), prometheus.Config{Address: server.URL, Headers: http.Header{"Authorization": {secret}}}, host + " Bearer workflow eve ", ""},
	} {
		asked = ""
		if test.ask.Address == "" {
			test.ask.Address = server.URL
		}
		_, err := analysis.Prometheus{Default: test.ours}.Measure(t.Context(), template.Metric{Prometheus: &test.ask})
		if asked != test.asked || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: asked %q with the error %v, expected %q and %q", name, asked, err, test.asked, test.err)
		}
	}
}

// TestWorkflowsHeadersAreKept says what a template may not say before there is a candidate, without the secret that a
// header's name is made of.
func TestWorkflowsHeadersAreKept(t *testing.T) {
	t.Parallel()
	const file = `
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: t}
spec:
  args: [{name: hidden, valueFrom: {secretKeyRef: {name: api, key: words}}}]
  metrics:
    - name: m
      provider: {prometheus: {query: q, insecure: true, headers: [{key: "X-{{args.hidden}}", value: a}]}}
`
	inputs := analysis.Inputs{Entries: []analysis.Entry{{File: "t.yaml"}}, Secrets: map[string]string{"api/words": "correcthorse"}, Prometheus: "https://prometheus.example.com"}
	sources := analysis.Sources{Prometheus: analysis.Prometheus{Default: prometheus.Config{Address: "https://prometheus.example.com/", Headers: http.Header{"Authorization": {"Bearer x"}}}}}
	_, wrong := analysis.Load(inputs, sources, []analysis.Step{{Percent: 100}}, fstest.MapFS{"t.yaml": {Data: []byte(file)}})
	got := fmt.Sprint(wrong)
	for _, want := range []string{"t.yaml: AnalysisTemplate t: metrics[0] m: provider.prometheus.headers: X-***: ", "metrics[0] m: provider.prometheus.insecure: true: "} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, expected %s", got, want)
		}
	}
}
