package analysis_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/analysis/condition"
	"github.com/acme/knative-promote/promote/analysis/template"
)

// replay answers from a list, the last answer again and again. Lists are by the
// metrics' names.
type replay struct {
	mu      sync.Mutex
	answers map[string]string
	asked   map[string]int
	at      map[string][]time.Duration
	started time.Time
}

// Measure reads one character of the metric's list: a digit is a value, N is NaN,
// E an error, F one that must stay the last, _ an empty vector, ~ a result that is in
// neither condition, and h an answer that does not come.
func (r *replay) Measure(ctx context.Context, m template.Metric) (analysis.Answer, error) {
	r.mu.Lock()
	list := r.answers[m.Name]
	answer := list[min(r.asked[m.Name], len(list)-1)]
	r.asked[m.Name]++
	r.at[m.Name] = append(r.at[m.Name], time.Since(r.started))
	r.mu.Unlock()
	switch answer {
	case 'E':
		return analysis.Answer{}, errors.New("connection refused")
	case 'F':
		return analysis.Answer{Phase: condition.Error, Final: true, Note: "it still runs"}, nil
	case 'N':
		return analysis.Answer{Result: []float64{math.NaN()}}, nil
	case '_':
		return analysis.Answer{Result: []float64{}}, nil
	case '~':
		return analysis.Answer{Result: []float64{0.5}}, nil
	case 'h':
		<-ctx.Done()
		return analysis.Answer{}, context.Cause(ctx)
	}
	return analysis.Answer{Result: []float64{float64(answer - '0')}}, nil
}

// run measures metrics, written as fields of a template, with answers by name.
// Successful is 1 and Failed 0, unless a metric has conditions of its own.
func run(t *testing.T, metrics []string, answers map[string]string, times analysis.Times, more ...string) (analysis.Assessment, *replay, error) {
	t.Helper()
	text := "apiVersion: argoproj.io/v1alpha1\nkind: AnalysisTemplate\nmetadata: {name: t}\nspec:\n" + strings.Join(more, "") + "  metrics:\n"
	for _, m := range metrics {
		if !strings.Contains(m, "Condition") {
			m += `, successCondition: "result[0] >= 1", failureCondition: "result[0] < 0.1"`
		}
		text += "  - {" + m + `, provider: {prometheus: {address: "http://p", query: q}}}` + "\n"
	}
	suite, wrong := analysis.Load(analysis.Inputs{Entries: []analysis.Entry{{File: "t.yaml"}}}, all, []analysis.Step{{Percent: 10, Bake: max(times.Bake, time.Hour)}},
		tree(map[string][]byte{"t.yaml": []byte(text)}))
	if wrong != nil {
		t.Fatal(wrong)
	}
	asked, _ := suite.At(analysis.Step{Percent: 10}, facts)
	source := &replay{answers: answers, asked: map[string]int{}, at: map[string][]time.Duration{}, started: time.Now()}
	got, err := asked.Run(t.Context(), analysis.Sources{Prometheus: source}, times)
	return got, source, err
}

// TestRun drives one metric through its answers. The first columns are the
// fields, what is measured, and what it comes to; then what Argo Rollouts would
// say, where that is something else, and when it was measured.
func TestRun(t *testing.T) {
	t.Parallel()
	const s, m = time.Second, time.Minute
	for _, test := range []struct {
		fields, answers string
		want, rollouts  condition.Phase
		reason          string
		at              []time.Duration
	}{
		// count and interval
		{"", "1", "Successful", "", "1 of 1 measurement was successful", []time.Duration{0}},
		{"count: 1", "0", "Failed", "", "1 of 1 measurement failed, failureLimit is 0", []time.Duration{0}},
		{"count: 0", "1", "Successful", "", "1 of 1 measurement was successful", []time.Duration{0}},
		{"count: 3, interval: 1m", "111", "Successful", "", "3 of 3 measurements were successful", []time.Duration{0, m, 2 * m}},
		{"count: 2, interval: 1m, initialDelay: 30s", "11", "Successful", "", "2 of 2 measurements were successful", []time.Duration{30 * s, 90 * s}},
		{"count: 3, interval: 1m", "1F1", "Error", "", "could not be measured", []time.Duration{0, m}},
		// failureLimit
		{"count: 3, interval: 1m, failureLimit: 1", "101", "Successful", "", "2 of 3 measurements were successful", []time.Duration{0, m, 2 * m}},
		{"count: 4, interval: 1m, failureLimit: 1", "1010", "Failed", "", "2 of 4 measurements failed, failureLimit is 1", []time.Duration{0, m, 2 * m, 3 * m}},
		{"count: 4, interval: 1m, failureLimit: 1", "00", "Failed", "", "2 of 2 measurements failed, failureLimit is 1", []time.Duration{0, m}},
		{"count: 2, interval: 1m, failureLimit: 2", "00", "Failed", "Successful", "none of 2 measurements was successful", []time.Duration{0, m}},
		// inconclusiveLimit
		{"count: 2, interval: 1m, inconclusiveLimit: 2", "~~", "Inconclusive", "Successful", "none of 2 measurements was successful", []time.Duration{0, m}},
		{"", "~", "Inconclusive", "", "1 of 1 measurement was inconclusive, inconclusiveLimit is 0", []time.Duration{0}},
		{"count: 3, interval: 1m, inconclusiveLimit: 1", "1~1", "Successful", "", "2 of 3 measurements were successful", []time.Duration{0, m, 2 * m}},
		{"count: 3, interval: 1m, inconclusiveLimit: 1", "~~", "Inconclusive", "", "2 of 2 measurements were inconclusive, inconclusiveLimit is 1", []time.Duration{0, m}},
		// consecutiveErrorLimit: errors do not count, are repeated after 10 s, and others reset the streak
		{"", "EEEE1", "Successful", "", "1 of 1 measurement was successful", []time.Duration{0, 10 * s, 20 * s, 30 * s, 40 * s}},
		{"count: 3, interval: 1m", "E1EE1E1", "Successful", "", "3 of 3 measurements were successful", []time.Duration{0, 10 * s, 70 * s, 80 * s, 90 * s, 150 * s, 160 * s}},
		{"", "E", "Error", "", "5 measurements in a row could not be made, consecutiveErrorLimit is 4", []time.Duration{0, 10 * s, 20 * s, 30 * s, 40 * s}},
		{"consecutiveErrorLimit: 0", "E", "Error", "", "1 measurement in a row could not be made, consecutiveErrorLimit is 0", []time.Duration{0}},
		{"count: 2, interval: 1m, failureLimit: 1, consecutiveErrorLimit: 1", "E0EE", "Error", "", "2 measurements in a row could not be made, consecutiveErrorLimit is 1", []time.Duration{0, 10 * s, 70 * s, 80 * s}},
		{"", "h1", "Successful", "", "1 of 1 measurement was successful", []time.Duration{0, 40 * s}},
		// consecutiveSuccessLimit
		{"count: 5, interval: 1m, consecutiveSuccessLimit: 2, failureLimit: 3", "1011", "Successful", "", "2 measurements in a row were successful", []time.Duration{0, m, 2 * m, 3 * m}},
		{"count: 5, interval: 1m, consecutiveSuccessLimit: 2, failureLimit: 3", "10101", "Inconclusive", "", "no 2 measurements in a row were successful, and no more than 3 failed", []time.Duration{0, m, 2 * m, 3 * m, 4 * m}},
		{"count: 5, interval: 1m, consecutiveSuccessLimit: 2, failureLimit: -1", "01010", "Failed", "", "no 2 of 5 measurements in a row were successful", []time.Duration{0, m, 2 * m, 3 * m, 4 * m}},
		{"count: 5, interval: 1m, consecutiveSuccessLimit: 2, failureLimit: -1", "00011", "Successful", "", "2 measurements in a row were successful", []time.Duration{0, m, 2 * m, 3 * m, 4 * m}},
		{"count: 5, interval: 1m, consecutiveSuccessLimit: 2", "1E11", "Successful", "", "2 measurements in a row were successful", []time.Duration{0, m, 70 * s, 130 * s}},
		// no data
		{"", "N1", "Successful", "Inconclusive", "1 of 1 measurement was successful", []time.Duration{0, 10 * s}},
		{"", "N", "Inconclusive", "", "there was no data, 30s after it was due", []time.Duration{0, 10 * s, 20 * s, 30 * s}},
		{"", "_", "Inconclusive", "Error", "there was no data, 40s after it was due", nil},
		{`failureCondition: "result[0] > 5"`, "N", "Inconclusive", "Successful", "there was no data, 30s after it was due", nil},
		{`count: 2, interval: 20s, failureCondition: "any(result, # > 5)"`, "1_", "Inconclusive", "Successful", "there was no data, 40s after it was due", []time.Duration{0, 20 * s, 40 * s, 60 * s}},
		{`count: 2, interval: 20s, failureCondition: "any(result, # > 5)"`, "1_1", "Successful", "", "2 of 2 measurements were successful", []time.Duration{0, 20 * s, 40 * s}},
		{"consecutiveErrorLimit: 100000", "E", "Error", "", "could not be measured, 7m10s after it was due", nil},
		{"consecutiveErrorLimit: 1", "ENENEN", "Inconclusive", "", "there was no data, 30s after it was due", nil},
		// endless, with a bake of 5 min
		{"interval: 2m", "1", "Successful", "", "4 of 4 measurements were successful", []time.Duration{0, 2 * m, 4 * m, 5 * m}},
		{"interval: 10m, failureLimit: 1", "1", "Successful", "", "2 of 2 measurements were successful", []time.Duration{0, 5 * m}},
		{"interval: 2m, failureLimit: 1", "100", "Failed", "", "2 of 3 measurements failed, failureLimit is 1", []time.Duration{0, 2 * m, 4 * m}},
		{"interval: 2m", "111N1", "Successful", "Inconclusive", "4 of 4 measurements were successful", []time.Duration{0, 2 * m, 4 * m, 5 * m, 7 * m}},
		{"interval: 10s, initialDelay: 4m50s", "N", "Inconclusive", "", "there was no data, 30s after it was due", []time.Duration{290 * s, 300 * s, 310 * s, 320 * s, 330 * s}},
		{"interval: 2m", "111E1", "Successful", "", "4 of 4 measurements were successful", []time.Duration{0, 2 * m, 4 * m, 5 * m, 310 * s}},
	} {
		t.Run(test.fields+" "+test.answers, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				times := analysis.Times{Bake: 5 * m, Wait: 30 * s}
				fields := strings.TrimSuffix("name: metric, "+test.fields, ", ")
				if strings.Contains(test.reason, "40s") { // the wait ends between two measurements
					times.Wait = 35 * s
				}
				got, source, err := run(t, []string{fields}, map[string]string{"metric": test.answers}, times)
				if err != nil {
					t.Fatal(err)
				}
				metric := got.Metrics[0]
				rollouts := test.rollouts
				if rollouts == "" {
					rollouts = test.want
				}
				if diff := cmp.Diff([]any{test.want, test.want, rollouts, test.reason}, []any{got.Phase, metric.Phase, metric.Rollouts, metric.Reason}); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if test.at != nil {
					if diff := cmp.Diff(test.at, source.at["metric"]); diff != "" {
						t.Errorf("measured at other times (-want +got):\n%s", diff)
					}
				}
			})
		})
	}
}

// TestRunOfSeveral has metrics that end each other.
func TestRunOfSeveral(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		metrics []string
		answers map[string]string
		more    string
		want    string
	}{
		{
			"all good", []string{"name: a", "name: b, count: 2, interval: 1m"}, map[string]string{"a": "1", "b": "1"}, "",
			"Successful: a: 1 of 1 measurement was successful; b: 2 of 2 measurements were successful\na Successful 1 Successful\nb Successful 2 Successful\n",
		},
		{
			"one ends the others", []string{"name: a, count: 5, interval: 1m", "name: b, initialDelay: 90s", "name: late, initialDelay: 10m"},
			map[string]string{"a": "1", "b": "0", "late": "1"}, "",
			"Failed: b is Failed: 1 of 1 measurement failed, failureLimit is 0, the last with [0]\n" +
				"a Skipped 2 Successful\nb Failed 1 Failed\nlate Skipped 0 Successful\n",
		},
		{
			"a measurement on its way", []string{"name: a", "name: b, initialDelay: 5s"}, map[string]string{"a": "h", "b": "0"}, "",
			"Failed: b is Failed: 1 of 1 measurement failed, failureLimit is 0, the last with [0]\na Skipped 0 Successful\nb Failed 1 Failed\n",
		},
		{
			"a dry run changes nothing", []string{"name: tried-a", "name: b, count: 2, interval: 1m"}, map[string]string{"tried-a": "0", "b": "1"}, "  dryRun: [{metricName: tried}]\n",
			"Successful: b: 2 of 2 measurements were successful\ntried-a Failed 1 Failed, dry run\nb Successful 2 Successful\n",
		},
		{
			"all in a dry run", []string{"name: a", "name: b"}, map[string]string{"a": "0", "b": "E"}, "  dryRun: [{metricName: .*}]\n",
			"Successful: \na Failed 1 Failed, dry run\nb Error 5 Error, dry run\n",
		},
		{
			"as many are kept as are to be shown", []string{"name: a, count: 30, interval: 1m", "name: b, count: 30, interval: 1m"}, map[string]string{"a": "1", "b": "1"},
			"  measurementRetention: [{metricName: a, limit: 3}, {metricName: b, limit: 0}]\n",
			"Successful: a: 30 of 30 measurements were successful; b: 30 of 30 measurements were successful\na Successful 3 Successful\nb Successful 10 Successful\n",
		},
		{
			"no data, and an error", []string{"name: a, count: 3, interval: 1m, failureLimit: 2"}, map[string]string{"a": "_"}, "",
			"Inconclusive: a is Inconclusive: there was no data, 1m0s after it was due, the last because the answer is empty: there is no such series or no data; Argo Rollouts would say Error\na Inconclusive 4 Error\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				got, _, err := run(t, test.metrics, test.answers, analysis.Times{Bake: 5 * time.Minute, Wait: time.Minute}, test.more)
				if err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprintf("%s: %s\n", got.Phase, got.Reason)
				for _, m := range got.Metrics {
					text += fmt.Sprintf("%s %s %d %s", m.Name, m.Phase, len(m.Measurements), m.Rollouts)
					if m.DryRun {
						text += ", dry run"
					}
					text += "\n"
				}
				if diff := cmp.Diff(test.want, text); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestCancelled holds that a run that is cancelled says nothing of the candidate.
func TestCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		suite, wrong := load(t, map[string][]byte{"t.yaml": []byte(`
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: t}
spec: {metrics: [{name: a, count: 5, interval: 1m, provider: {web: {url: "http://example.com"}}}]}`)})
		if wrong != nil {
			t.Fatal(wrong)
		}
		asked, _ := suite.At(analysis.Step{Percent: 10}, facts)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(90*time.Second, func() { cancel(errors.New("cancelled by SIGTERM")) })
		source := &replay{answers: map[string]string{"a": "1"}, asked: map[string]int{}, at: map[string][]time.Duration{}}
		got, err := asked.Run(ctx, analysis.Sources{Web: source}, analysis.Times{})
		if err == nil || err.Error() != "cancelled by SIGTERM" {
			t.Errorf("got the error %v, expected the cancellation", err)
		}
		if got.Metrics[0].Phase != analysis.Skipped {
			t.Errorf("got %+v, expected a skipped metric", got.Metrics[0])
		}
	})
}
