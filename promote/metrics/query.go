package metrics

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/acme/knative-promote/promote/slo"
)

// placeholder is how the user's query names a value that it is given.
var placeholder = regexp.MustCompile(`\{\{\s*args\.([A-Za-z0-9_-]*)\s*\}\}`)

// exampleQuery is shown where a query cannot be used.
const exampleQuery = `sum by (code) (last_over_time(http_requests_total{revision="{{args.revision}}"}[{{args.age}}]))`

// Check says what is wrong with an objective that is measured by a source of this
// package.
func Check(objective slo.Objective) error {
	text := string(objective.From)
	if !metricsOf(objective.From)[0].own {
		return nil
	}
	asked := false
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		switch found[1] {
		case "revision":
			asked = true
		case "namespace", "age":
		default:
			return fmt.Errorf("the query has %s: expected {{args.revision}}, {{args.namespace}} or {{args.age}}, such as %s", found[0], exampleQuery)
		}
	}
	if !asked {
		return fmt.Errorf("the query does not say of which revision: expected {{args.revision}} in it, such as %s", exampleQuery)
	}
	if objective.Latency > 0 {
		return errors.New("a query counts requests and says nothing of their latency: expected from=kourier, istio, knative or load, or an objective without latency")
	}
	return nil
}

// ownQuery fills the placeholders of the user's query for one revision.
func (r Revisions) ownQuery(text, revision string, age time.Duration) string {
	values := map[string]string{"revision": revision, "namespace": r.Namespace, "age": duration(age)}
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		return values[strings.TrimSpace(strings.TrimPrefix(strings.Trim(found, "{} \t"), "args."))]
	})
}
