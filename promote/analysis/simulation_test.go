package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/analysis/condition"
)

// limits are the fields of a random metric.
type limits struct {
	count, failure, inconclusive, errors, success int
	interval                                      time.Duration
}

func randomLimits(r *rand.Rand) limits {
	l := limits{
		count: 1 + r.IntN(6), failure: r.IntN(4) - 1, inconclusive: r.IntN(3), errors: r.IntN(4), success: r.IntN(4),
		interval: time.Duration(1+r.IntN(30)) * time.Second,
	}
	if l.failure < 0 {
		l.success = max(l.success, 1)
	}
	l.count = max(l.count, max(l.failure, 0)+l.success, l.inconclusive)
	return l
}

func (l limits) fields() string {
	return fmt.Sprintf("name: metric, count: %d, failureLimit: %d, inconclusiveLimit: %d, consecutiveErrorLimit: %d, consecutiveSuccessLimit: %d, interval: %s",
		l.count, l.failure, l.inconclusive, l.errors, l.success, l.interval)
}

// rollouts is Argo Rollouts' rule, told from the list of all answers so far: what
// the metric is after it, and empty while it goes on.
func (l limits) rollouts(answers string) condition.Phase {
	all := func(letter string) int { return strings.Count(answers, letter) }
	inARow := func(letter string) int { return len(answers) - len(strings.TrimRight(answers, letter)) }
	switch {
	case inARow("E") > l.errors:
		return condition.Error
	case all("~") > l.inconclusive:
		return condition.Inconclusive
	case l.failure != -1 && all("0") > l.failure:
		return condition.Failed
	case l.success > 0 && inARow("1") >= l.success:
		return condition.Successful
	case len(answers)-all("E") < l.count:
		return ""
	case l.success == 0:
		return condition.Successful
	case l.failure == -1:
		return condition.Failed
	}
	return condition.Inconclusive
}

// TestAgainstRollouts measures random metrics with random answers. Where all
// answers are data, a metric comes to what Argo Rollouts says and after as many
// measurements, but for one that passes without a single success.
func TestAgainstRollouts(t *testing.T) {
	t.Parallel()
	seen := map[condition.Phase]int{}
	for seed := range uint64(1500) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			l := randomLimits(r)
			var answers string
			for range 60 {
				answers += string("1110~E"[r.IntN(6)])
			}
			want, asked := condition.Phase(""), 0
			for want == "" {
				asked++
				want = l.rollouts(answers[:asked])
			}
			got, source, err := run(t, []string{l.fields()}, map[string]string{"metric": answers}, analysis.Times{Wait: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			metric := got.Metrics[0]
			if metric.Rollouts != want || source.asked["metric"] != asked {
				t.Errorf("seed %d: %+v with %s: Argo Rollouts would say %s after %d measurements, expected %s after %d",
					seed, l, answers[:asked], metric.Rollouts, source.asked["metric"], want, asked)
			}
			if metric.Phase != want && (metric.Phase == condition.Successful || strings.Contains(answers[:asked], "1")) {
				t.Errorf("seed %d: %+v with %s is %s, expected %s", seed, l, answers[:asked], metric.Phase, want)
			}
			seen[metric.Phase]++
		})
	}
	for _, phase := range []condition.Phase{condition.Successful, condition.Failed, condition.Inconclusive, condition.Error} {
		if seen[phase] < 50 {
			t.Errorf("%d of 1500 metrics were %s, which shows little", seen[phase], phase)
		}
	}
}

// TestEveryRunEnds measures random metrics with any answers: each run ends within
// its patience, and none passes without a measurement that was successful, or
// with a last one that was not seen.
func TestEveryRunEnds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			l := randomLimits(r)
			letters := []string{"N", "NE", "E", "_1", "h", "h1", "10~EN_h"}[r.IntN(7)]
			var answers string
			for range 200 {
				answers += string(letters[r.IntN(len(letters))])
			}
			fields := l.fields()
			if r.IntN(2) == 0 { // endless
				fields = strings.Replace(fields, fmt.Sprintf("count: %d, ", l.count), "", 1)
			}
			times := analysis.Times{Bake: time.Duration(r.IntN(300)) * time.Second, Wait: time.Duration(r.IntN(300)) * time.Second}
			began := time.Now()
			got, _, err := run(t, []string{fields}, map[string]string{"metric": answers}, times)
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			if patience := patience(t, fields, times); took > patience {
				t.Errorf("seed %d: %s with %.20s took %s, and its patience is %s", seed, fields, answers, took, patience)
			}
			metric := got.Metrics[0]
			last := metric.Measurements[len(metric.Measurements)-1].Phase
			if got.Phase == condition.Successful && last != condition.Successful && last != condition.Failed && last != condition.Inconclusive {
				t.Errorf("seed %d: %s with %s is Successful, and its last measurement is %s", seed, fields, answers, last)
			}
			if got.Phase == condition.Successful && !strings.Contains(answers, "1") {
				t.Errorf("seed %d: %s with %s is Successful", seed, fields, answers)
			}
		})
	}
}

func patience(t *testing.T, fields string, times analysis.Times) time.Duration {
	t.Helper()
	text := "apiVersion: argoproj.io/v1alpha1\nkind: AnalysisTemplate\nmetadata: {name: t}\nspec: {metrics: [{" + fields +
		`, provider: {prometheus: {address: "http://p", query: q}}}]}`
	steps := []analysis.Step{{Percent: 10, Bake: time.Hour}}
	suite, wrong := analysis.Load(analysis.Inputs{Entries: []analysis.Entry{{File: "t.yaml"}}}, all, steps, tree(map[string][]byte{"t.yaml": []byte(text)}))
	if wrong != nil {
		t.Fatal(wrong)
	}
	return suite.Patience(analysis.Step{Percent: 10, Bake: times.Bake}, times.Wait)
}
