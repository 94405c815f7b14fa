package metrics

import (
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote/prometheus"
)

// TestCountsFell: counters that begin again are not counted over, whichever of them is lower.
func TestCountsFell(t *testing.T) {
	t.Parallel()
	for name, then := range map[string][]prometheus.Sample{
		"failures":   {envoy("shop-new", "200", 900), envoy("shop-new", "503", 3)},
		"all":        {envoy("shop-new", "200", 60), envoy("shop-new", "503", 30)},
		"of the old": {envoy("shop-new", "200", 90), envoy("shop-new", "503", 10), envoy("shop-old", "200", 3)},
	} {
		asker := &scripted{rows: map[string][]prometheus.Sample{upstream: {envoy("shop-new", "200", 90), envoy("shop-new", "503", 10), envoy("shop-old", "200", 5)}}}
		c := counter(t, asker, errors99, shop)
		if _, err := c.Counts(t.Context()); err != nil {
			t.Fatal(err)
		}
		asker.rows[upstream] = append(then, envoy("shop-old", "200", 5))
		if name == "of the old" {
			asker.rows[upstream] = then
		}
		got, err := c.Counts(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), "the counters are lower than when the step began") {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}
