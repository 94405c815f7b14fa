package analysis

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/analysis/condition"
)

const (
	maxValue      = 200             // bytes of a result that are shown
	maxReason     = 500             // bytes of an error that are shown
	conditionTime = 5 * time.Second // for the conditions of one result
)

// measure asks once.
func (f *follower) measure(ctx context.Context) Measurement {
	metric, secrets, err := f.analysis.metric(f.index)
	if err != nil {
		return failed(err)
	}
	limited, stop := context.WithTimeoutCause(ctx, metric.Timeout(), fmt.Errorf("no answer in %s", metric.Timeout()))
	defer stop()
	answer, err := f.source.Measure(limited, metric)
	if err != nil {
		m := failed(err)
		m.Reason = oneline.Of(secrets.Hide(err.Error()), maxReason)
		return m
	}
	f.final = answer.Final
	m := Measurement{At: time.Now(), Phase: answer.Phase, Rollouts: answer.Phase, Reason: answer.Note}
	if answer.Phase == "" {
		judging, done := context.WithTimeout(ctx, conditionTime)
		defer done()
		verdict := metric.Conditions.Judge(judging, answer.Result)
		m.Phase, m.Rollouts, m.Reason = verdict.Phase, verdict.Rollouts, verdict.Reason
		m.Value = oneline.Of(secrets.Hide(show(answer.Result)), maxValue)
	}
	m.Reason = oneline.Of(secrets.Hide(m.Reason), maxReason)
	return m
}

// failed is a measurement that could not be made.
func failed(err error) Measurement {
	return Measurement{At: time.Now(), Phase: condition.Error, Rollouts: condition.Error, Reason: oneline.Of(err.Error(), maxReason)}
}

// show is a result as a text, with blanks at which it can be cut.
func show(result any) string {
	switch r := result.(type) {
	case []float64:
		texts := make([]string, len(r))
		for i, v := range r {
			texts[i] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case float64:
		return strconv.FormatFloat(r, 'g', -1, 64)
	case string:
		return r
	}
	var text strings.Builder
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false) // a secret is hidden where it stands as it is
	to.SetIndent("", " ")
	if err := to.Encode(result); err != nil {
		return fmt.Sprint(result)
	}
	return oneline.Of(text.String(), text.Len())
}
