package analysis

import (
	"context"

	"github.com/acme/knative-promote/promote/analysis/condition"
	"github.com/acme/knative-promote/promote/analysis/template"
	"github.com/acme/knative-promote/promote/analysis/web"
)

// Web is the source of web metrics.
type Web struct{ web.Client }

// Measure makes the metric's request.
func (w Web) Measure(ctx context.Context, metric template.Metric) (Answer, error) {
	result, err := w.Ask(ctx, *metric.Web, metric.Conditions == condition.Conditions{})
	return Answer{Result: result}, err
}
