package metrics

import (
	"os"
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote/slo"
)

// TestDocs: docs/metrics.md shows the queries as they are asked.
func TestDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []slo.Source{slo.Kourier, slo.Istio, slo.Knative} {
		for _, m := range metricsOf(source) {
			if m.name == "kn_queueproxy_app_duration_seconds" {
				continue // another name of the one before
			}
			if !strings.Contains(string(text), "\n"+m.counts+"\n") {
				t.Errorf("docs/metrics.md does not show\n%s", m.counts)
			}
			if source != slo.Knative && !strings.Contains(string(text), "\n"+m.buckets+"\n") {
				t.Errorf("docs/metrics.md does not show\n%s", m.buckets)
			}
		}
	}
	if _, example, _ := strings.Cut(string(text), "from=sum"); !strings.HasPrefix("sum"+example, exampleQuery+"\n") {
		t.Errorf("docs/metrics.md does not show %s", exampleQuery)
	}
}
