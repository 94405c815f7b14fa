package template

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/internal/redact"
	"github.com/acme/knative-promote/promote/analysis/condition"
)

// A Metric is measured again and again until its limits say what it came to. One
// of Web, Prometheus and Job says where.
type Metric struct {
	Name string
	At   string // the file, the template and the place in it, for messages

	InitialDelay time.Duration // from the run's start
	Interval     time.Duration // from the end of one measurement to the next; 0 with a count of 1
	Count        int           // of measurements without errors; 0 is endless

	FailureLimit            int // more are Failed; -1 for any number
	InconclusiveLimit       int // more are Inconclusive
	ConsecutiveErrorLimit   int // more in a row are Error
	ConsecutiveSuccessLimit int // as many in a row are Successful at once; 0 for never

	Conditions condition.Conditions
	DryRun     bool // what it comes to is shown, and changes nothing
	Retention  int  // how many of its last measurements are shown

	Web        *Web
	Prometheus *Prometheus
	Job        *Job
}

// Endless tells whether a metric is measured until somebody ends the run.
func (m Metric) Endless() bool { return m.Count == 0 }

// What is taken where a template says nothing.
const (
	defaultErrorLimit = 4
	defaultRetention  = 10
	maxRetention      = 1000
	maxMetrics        = 100     // of one run
	maxProblem        = 4 << 10 // bytes of what is said to be wrong with one thing
)

// Resolve gives the declared arguments their values, and says everything that is
// wrong with the metrics then. No error contains a secret; the secrets that the
// metrics contain are there to be hidden in what is said of them.
func (m Merged) Resolve(v Values) ([]Metric, *redact.Secrets, []error) {
	values, wrong := m.given(v)
	secrets := redact.Of(slices.Collect(maps.Values(values.secret))...)
	var metrics []Metric
	for _, written := range m.metrics {
		resolved, errs := m.resolve(written, values, v.Prometheus)
		wrong = append(wrong, errs...)
		if i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == resolved.Name && m.Name != "" }); i >= 0 {
			wrong = append(wrong, fmt.Errorf("%s: name: %q is there already, at %s: expected each once", resolved.At, resolved.Name, metrics[i].At))
		}
		metrics = append(metrics, resolved)
	}
	switch n := len(m.metrics); {
	case n == 0 && len(wrong) == 0:
		wrong = append(wrong, fmt.Errorf("%s: expected metrics in spec.metrics", strings.Join(m.from, ", ")))
	case n > maxMetrics:
		wrong = append(wrong, fmt.Errorf("the templates have %d metrics, expected at most %d", n, maxMetrics))
	}
	wrong = append(wrong, apply(m.dryRun, metrics, func(metric *Metric, _ rule) { metric.DryRun = true })...)
	wrong = append(wrong, apply(m.retention, metrics, func(metric *Metric, r rule) {
		if r.Limit > 0 {
			metric.Retention = min(int(r.Limit), maxRetention)
		}
	})...)
	for i, err := range wrong {
		wrong[i] = errors.New(oneline.Cut(secrets.Hide(err.Error()), maxProblem))
	}
	return metrics, secrets, wrong
}

// resolve is one metric with its arguments.
func (m Merged) resolve(written located[metric], values given, address string) (Metric, []error) {
	at := written.at
	if written.value.Name != "" {
		at += " " + written.value.Name
	}
	unresolved := Metric{Name: written.value.Name, At: at, Count: 1}
	wrong := values.shown(written.value)
	resolved, unknown, err := substitute(written.value, values.all)
	switch {
	case wrong != nil:
		return unresolved, prefix(at, wrong)
	case err != nil:
		return unresolved, []error{fmt.Errorf("%s: %w", at, err)}
	case unknown != nil:
		for _, tag := range unknown {
			if name, _ := strings.CutPrefix(strings.TrimSpace(tag), "args."); !m.declares(name) {
				wrong = append(wrong, fmt.Errorf("%s: {{%.60s}}: expected {{args.NAME}} with a name that spec.args declares; declared are: %s", at, tag, list(m.declared())))
			}
		}
		return unresolved, wrong // what has no value is said of the argument
	}
	metric, wrong := resolved.checked(address)
	metric.At = at
	return metric, prefix(at, wrong)
}

// prefix says of each error where it is.
func prefix(at string, wrong []error) []error {
	for i, err := range wrong {
		wrong[i] = fmt.Errorf("%s: %w", at, err)
	}
	return wrong
}

func (m Merged) declares(name string) bool { return slices.Contains(m.declared(), name) }

func (m Merged) declared() []string {
	var names []string
	for _, arg := range m.args {
		names = append(names, arg.value.Name)
	}
	return names
}

// apply has each rule change the metrics that its expression matches, anywhere in
// their name. One that matches none is an error.
func apply(rules []located[rule], metrics []Metric, change func(*Metric, rule)) []error {
	var wrong []error
	for _, r := range rules {
		expression, err := regexp.Compile(r.value.MetricName)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: metricName: %q is no regular expression, for all metrics write .*", r.at, r.value.MetricName))
			continue
		}
		matched := false
		for i := range metrics {
			if expression.MatchString(metrics[i].Name) {
				change(&metrics[i], r.value)
				matched = true
			}
		}
		if !matched {
			wrong = append(wrong, fmt.Errorf("%s: metricName: %q matches no metric", r.at, r.value.MetricName))
		}
	}
	return wrong
}
