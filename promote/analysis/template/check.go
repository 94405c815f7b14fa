package template

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/acme/knative-promote/promote/analysis/condition"
)

// Bounds on what is measured. An interval that is shorter than the least one
// would do nothing but ask.
const (
	leastInterval = 100 * time.Millisecond
	mostInterval  = 7 * 24 * time.Hour
	mostCount     = 100_000
)

// problems are all errors of a metric.
type problems []error

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

// checked is the metric with what Argo Rollouts takes where nothing is said, and
// everything that is wrong with it.
func (m metric) checked(address string) (Metric, []error) {
	var wrong problems
	checked := Metric{
		Name:                    m.Name,
		InitialDelay:            wrong.duration("initialDelay", m.InitialDelay, 0),
		Interval:                wrong.duration("interval", m.Interval, leastInterval),
		Count:                   wrong.number("count", m.Count, 0, 0),
		FailureLimit:            wrong.number("failureLimit", m.FailureLimit, 0, -1),
		InconclusiveLimit:       wrong.number("inconclusiveLimit", m.InconclusiveLimit, 0, 0),
		ConsecutiveErrorLimit:   wrong.number("consecutiveErrorLimit", m.ConsecutiveErrorLimit, defaultErrorLimit, 0),
		ConsecutiveSuccessLimit: wrong.number("consecutiveSuccessLimit", m.ConsecutiveSuccessLimit, 0, 0),
		Conditions:              condition.Conditions{Success: m.SuccessCondition, Failure: m.FailureCondition},
		Retention:               defaultRetention,
		Web:                     m.Provider.Web,
		Prometheus:              m.Provider.Prometheus,
		Job:                     m.Provider.Job,
	}
	if m.Name == "" {
		wrong.add("name: expected a name")
	}
	wrong.limits(checked)
	if m.Interval == "" && checked.Count == 0 {
		checked.Count = 1
	}
	wrong = append(wrong, m.Provider.checked(&checked, address)...)
	return checked, wrong
}

// limits are the rules between the numbers, those of ValidateMetric in
// https://github.com/argoproj/argo-rollouts/blob/v1.8.5/utils/analysis/helpers.go.
func (p *problems) limits(m Metric) {
	if m.ConsecutiveSuccessLimit == 0 && m.FailureLimit == -1 {
		p.add("failureLimit: is -1, so a consecutiveSuccessLimit above 0 is expected: nothing would end the metric")
	}
	if m.Count == 0 {
		return
	}
	if least := max(m.FailureLimit, 0) + m.ConsecutiveSuccessLimit; m.Count < least {
		p.add("count: is %d, expected at least %d: failureLimit and consecutiveSuccessLimit together", m.Count, least)
	}
	if m.Count < m.InconclusiveLimit {
		p.add("count: is %d, expected at least the inconclusiveLimit %d", m.Count, m.InconclusiveLimit)
	}
	if took := float64(m.Count) * m.Interval.Hours(); took > mostInterval.Hours() {
		p.add("count: %d intervals of %s are longer than %s", m.Count, m.Interval, mostInterval)
	}
	if m.Count > 1 && m.Interval == 0 {
		p.add("interval: is not there, but the count is %d: expected a duration such as 1m", m.Count)
	}
}

// duration reads a duration; 0 is one that is not there.
func (p *problems) duration(field, text string, least time.Duration) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > mostInterval {
		p.add("%s: %q: expected a duration from %s to %s, such as 1m", field, text, least, mostInterval)
	}
	return d
}

// number reads a number that may be written as a text, as with an argument.
func (p *problems) number(field string, n *intstr.IntOrString, otherwise, least int) int {
	if n == nil {
		return otherwise
	}
	value := int(n.IntVal)
	var err error
	if n.Type == intstr.String {
		value, err = strconv.Atoi(n.StrVal)
	}
	if err != nil || value < least || value > mostCount {
		p.add("%s: %q: expected a whole number from %d to %d", field, n.String(), least, mostCount)
	}
	return value
}

// checked looks at what the metric is measured with.
func (p provider) checked(m *Metric, address string) []error {
	var wrong problems
	supported := 0
	if p.Prometheus != nil {
		supported++
		wrong = append(wrong, p.Prometheus.checked(address)...)
		p.Prometheus.Address = orElse(p.Prometheus.Address, address)
		// A vector or a scalar.
		wrong = append(wrong, m.Conditions.Check([]float64{}, 0.0)...)
	}
	if p.Web != nil {
		supported++
		wrong = append(wrong, p.Web.checked()...)
		wrong = append(wrong, m.Conditions.Check()...)
	}
	if p.Job != nil {
		supported++
		if d := p.Job.Spec.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > 24*3600) {
			wrong.add("provider.job.spec.activeDeadlineSeconds: %d: expected seconds from 1 to %d", *d, 24*3600)
		}
	}
	unsupported := p.unsupported()
	for _, name := range unsupported {
		wrong.add("provider.%s: is not supported; supported are prometheus, web and job: ask its HTTP API with the provider web, or a Prometheus with the same data", name)
	}
	switch supported + len(unsupported) {
	case 0:
		wrong = append(wrong, errors.New("provider: expected prometheus, web or job, but there is none"))
	case 1:
	default:
		wrong = append(wrong, errors.New("provider: there are several, expected one"))
	}
	return wrong
}

// unsupported are the providers that are there and not supported.
func (p provider) unsupported() []string {
	var names []string
	for _, other := range []struct {
		name string
		raw  []byte
	}{
		{"kayenta", p.Kayenta}, {"datadog", p.Datadog}, {"wavefront", p.Wavefront}, {"newRelic", p.NewRelic},
		{"cloudWatch", p.CloudWatch}, {"graphite", p.Graphite}, {"influxdb", p.Influxdb}, {"skywalking", p.SkyWalking},
		{"plugin", p.Plugin},
	} {
		if other.raw != nil && string(other.raw) != "null" {
			names = append(names, other.name)
		}
	}
	return names
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
