package analysis_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/analysis/template"
	"github.com/acme/knative-promote/promote/prometheus"
)

// TestPrometheus holds what is asked, with which headers, and what the conditions
// get of each kind of answer.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token": "fetched", "token_type": "Bearer"}`)
			return
		}
		_ = r.ParseForm()
		asked = strings.TrimSpace(fmt.Sprintf("%s %s step=%s auth=%s tenant=%s org=%s", r.URL.Path, r.Form.Get("query"), r.Form.Get("step"), r.Header.Get("Authorization"), r.Header.Get("X-Tenant"), r.Header.Get("X-Scope-OrgID")))
		_, _ = fmt.Fprintf(w, `{"status": "success", "data": %s}`, map[string]string{
			"scalar": `{"resultType": "scalar", "result": [1, "2.5"]}`,
			"none":   `{"resultType": "vector", "result": []}`,
			"two":    `{"resultType": "vector", "result": [{"metric": {}, "value": [1, "0.5"]}, {"metric": {"a": "b"}, "value": [1, "NaN"]}]}`,
			"range":  `{"resultType": "matrix", "result": [{"metric": {}, "values": [[1, "1"], [2, "2"]]}, {"metric": {"a": "b"}, "values": [[1, "3"]]}]}`,
			"text":   `{"resultType": "string", "result": [1, "x"]}`,
		}[r.Form.Get("query")])
	}))
	defer server.Close()
	source := analysis.Prometheus{Default: prometheus.Config{Address: server.URL, Headers: http.Header{"X-Tenant": {"shop"}}}}
	for _, test := range []struct {
		ask              template.Prometheus
		asked, want, err string
	}{
		{ask: template.Prometheus{Query: "scalar"}, asked: "/api/v1/query scalar step= auth= tenant=shop org=", want: "2.5"},
		{ask: template.Prometheus{Query: "none", Address: server.URL + "/"}, asked: "/api/v1/query none step= auth= tenant=shop org=", want: "[]"},
		{ask: template.Prometheus{Query: "two", Address: server.URL + "/other"}, asked: "/other/api/v1/query two step= auth= tenant= org=", want: "[0.5 NaN]"},
		{
			ask:   template.Prometheus{Query: "range", RangeQuery: &template.Range{Start: `now() - duration("5m")`, End: "now()", Step: "1m"}},
			asked: "/api/v1/query_range range step=60 auth= tenant=shop org=", want: "[1 2 3]",
		},
		{
			ask:   template.Prometheus{Query: "none", Headers: []template.Header{{Key: "X-Scope-OrgID", Value: "own"}}, Authentication: template.Authentication{BasicAuth: template.BasicAuth{Username: "me", Password: "pass"}}},
			asked: "/api/v1/query none step= auth=Basic bWU6cGFzcw== tenant=shop org=own", want: "[]",
		},
		{
			ask:   template.Prometheus{Query: "none", Authentication: template.Authentication{OAuth2: template.OAuth2{TokenURL: server.URL + "/token", ClientID: "me", ClientSecret: "x"}}},
			asked: "/api/v1/query none step= auth=Bearer fetched tenant=shop org=", want: "[]",
		},
		{ask: template.Prometheus{Query: "text"}, asked: "/api/v1/query text step= auth= tenant=shop org=", err: `expected numbers, got the type "string"`},
	} {
		if test.ask.Address == "" {
			test.ask.Address = server.URL
		}
		got, err := source.Measure(t.Context(), template.Metric{Prometheus: &test.ask})
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: got %v, expected the error %s", test.ask.Query, err, test.err)
			}
			continue
		}
		if diff := cmp.Diff([]any{test.asked, test.want, nil}, []any{asked, fmt.Sprint(got.Result), err}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.ask.Query, diff)
		}
	}
}
