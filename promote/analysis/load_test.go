package analysis_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/analysis/template"
)

// TestLoad loads the files of each case, and wants either everything that is
// wrong with them or the metrics at the last step.
func TestLoad(t *testing.T) {
	t.Parallel()
	golden.Run(t, "testdata/load/*.txtar", "want", func(t *testing.T, parts map[string][]byte) string {
		var out strings.Builder
		suite, wrong := load(t, parts)
		for _, err := range wrong {
			fmt.Fprintf(&out, "error: %s\n", err)
		}
		if len(wrong) > 0 {
			return out.String()
		}
		asked, _ := suite.At(analysis.Step{Percent: 100}, facts)
		metrics, err := asked.Metrics()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range metrics {
			fmt.Fprintf(&out, "%s, least %s, patience %s\n", describe(t, m), suite.Least(analysis.Step{Percent: 100}),
				suite.Patience(analysis.Step{Percent: 100, Bake: 10 * time.Minute}, 5*time.Minute))
		}
		return out.String()
	})
}

var facts = analysis.Facts{
	Service: "shop", Namespace: "prod", Revision: "shop-b", Stable: "shop-a", CandidateURL: "http://candidate-shop.prod.example.com",
	URL: "http://shop.prod.example.com", Image: "registry.example.com/shop:v2", Commit: "c0ffee", Percent: 100, Step: "100",
}

// all are sources for everything, which nobody asks.
var all = analysis.Sources{Web: &replay{}, Prometheus: &replay{}, Job: &replay{}}

// TestNoSource names the providers that a run has no source for.
func TestNoSource(t *testing.T) {
	t.Parallel()
	const text = `{apiVersion: argoproj.io/v1alpha1, kind: AnalysisTemplate, metadata: {name: t}, spec: {metrics: [
		{name: b, provider: {prometheus: {address: "http://p", query: q}}}]}}`
	_, wrong := analysis.Load(analysis.Inputs{Entries: []analysis.Entry{{File: "t.yaml"}}}, analysis.Sources{}, []analysis.Step{{Percent: 10}},
		tree(map[string][]byte{"t.yaml": []byte(text)}))
	want := "t.yaml: AnalysisTemplate t: metrics[0] b: provider.prometheus: is not supported here: ask its HTTP API with the provider web"
	if got := errors.Join(wrong...); got == nil || got.Error() != want {
		t.Errorf("got %v, expected %s", got, want)
	}
}

// load reads the entries, or all files, with the steps 0, 10, 50 and 100.
func load(t *testing.T, parts map[string][]byte) (analysis.Suite, []error) {
	t.Helper()
	names := slices.Sorted(maps.Keys(parts))
	text := string(parts["analysis"])
	if text == "" {
		text = strings.Join(slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(name, ".") }), "\n")
	}
	entries, err := analysis.ParseEntries(text)
	if err != nil {
		return analysis.Suite{}, []error{fmt.Errorf("input analysis: %w", err)}
	}
	args, err := analysis.ParsePairs(string(parts["analysis-args"]))
	if err != nil {
		return analysis.Suite{}, []error{fmt.Errorf("input analysis-args: %w", err)}
	}
	secrets, err := analysis.ParsePairs(string(parts["analysis-secrets"]))
	if err != nil {
		return analysis.Suite{}, []error{fmt.Errorf("input analysis-secrets: %w", err)}
	}
	bake := 10 * time.Minute
	if parts["bake"] != nil {
		bake, _ = time.ParseDuration(strings.TrimSpace(string(parts["bake"])))
	}
	var steps []analysis.Step
	for _, percent := range []int{0, 10, 50, 100} {
		steps = append(steps, analysis.Step{Percent: percent, Bake: bake})
	}
	inputs := analysis.Inputs{Entries: entries, Args: args, Secrets: secrets, Prometheus: strings.TrimSpace(string(parts["prometheus"]))}
	return analysis.Load(inputs, all, steps, tree(parts))
}

// tree has the parts as files.
func tree(parts map[string][]byte) fs.FS {
	files := fstest.MapFS{}
	for name, content := range parts {
		files[name] = &fstest.MapFile{Data: content}
	}
	return files
}

// describe is a metric on a line.
func describe(t *testing.T, m template.Metric) string {
	t.Helper()
	text, err := json.Marshal(struct {
		Web        *template.Web        `json:"web,omitempty"`
		Prometheus *template.Prometheus `json:"prometheus,omitempty"`
	}{m.Web, m.Prometheus})
	if err != nil {
		t.Fatal(err)
	}
	var more string
	if m.Job != nil {
		more = " CronJob " + m.CronJob()
	}
	if m.DryRun {
		more += ", dry run"
	}
	return fmt.Sprintf("%s: count %d every %s after %s, limits failure %d inconclusive %d error %d success %d, retention %d, %q %q,\n  %s%s",
		m.Name, m.Count, m.Interval, m.InitialDelay, m.FailureLimit, m.InconclusiveLimit, m.ConsecutiveErrorLimit, m.ConsecutiveSuccessLimit,
		m.Retention, m.Conditions.Success, m.Conditions.Failure, text, more)
}
