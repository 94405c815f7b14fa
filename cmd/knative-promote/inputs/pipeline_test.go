package inputs

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xeipuuv/gojsonschema"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/internal/fake/consoletest"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/setting"
)

// TestPipelineSchema has files that both the schema and the program take, or both
// refuse.
func TestPipelineSchema(t *testing.T) {
	t.Parallel()
	text, err := PipelineSchema()
	if err != nil {
		t.Fatal(err)
	}
	loader := gojsonschema.NewSchemaLoader()
	loader.AutoDetect, loader.Draft = false, gojsonschema.Draft7 // which knows all that ours says
	schema, err := loader.Compile(gojsonschema.NewBytesLoader([]byte(strings.Replace(string(text), "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#", 1))))
	if err != nil {
		t.Fatal(err)
	}
	const begin = "version: 1\npath: apps/{service}/overlays/{environment}\n"
	for _, test := range []struct {
		good bool
		file string
	}{
		{true, begin + "environments: {dev: {}, staging: , production: {from: staging, soak: 1h, checks: [e2e], approval: true, override: false, steps: [10@5m, 100]}}"},
		{true, begin + "environments: {dev: {steps: 100, probe-count: 3, strict: true, wait-for-data: 5m, analysis-args: ['a=b']}}\ndefaults: {application: '{service}', probe: /}\nservices: {web: {dev: {probe: /x}}}"},
		{false, begin},
		{false, "path: '{environment}'\nenvironments: {dev: {}}"},
		{false, "version: 2\npath: '{environment}'\nenvironments: {dev: {}}"},
		{false, "version: 1\npath: apps\nenvironments: {dev: {}}"},
		{false, begin + "environments: {}"},
		{false, begin + "environments: {a/b: {}}"},
		{false, begin + "environments: [dev]"},
		{false, begin + "environments: {dev: {token: x}}"},
		{false, begin + "environments: {dev: {steps: []}}"},
		{false, begin + "environments: {dev: {steps: [{x: y}]}}"},
		{false, begin + "environments: {dev: {strict: sometimes}}"},
		{false, begin + "environments: {dev: {probe-count: many}}"},
		{true, begin + "environments: {dev: {}, qa: {}, prod: {from: [dev, qa]}}"},
		{false, begin + "environments: {dev: {}, prod: {from: []}}"},
		{false, begin + "environments: {dev: {}, prod: {from: [{dev: qa}]}}"},
		{false, begin + "environments: {dev: {}}\ndefaults: {from: dev}"},
		{false, begin + "environments: {dev: {}}\nservices: {Web: {}}"},
	} {
		document, err := yaml.YAMLToJSON([]byte(test.file))
		if err != nil {
			t.Fatal(err)
		}
		result, err := schema.Validate(gojsonschema.NewBytesLoader(document))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pipeline.Parse([]byte(test.file), FileKeys()); (err == nil) != test.good || result.Valid() != test.good {
			t.Errorf("%s\nthe program: %v, the schema: %v", test.file, err, result.Errors())
		}
	}
}

// TestPipelineInputs looks that each row says whether the pipeline file may say the input, that
// what it may say are inputs of promote, and none of them a secret, and that a guard rests on
// nothing else.
func TestPipelineInputs(t *testing.T) {
	t.Parallel()
	guards := 0
	for _, in := range All() {
		if in.Said == 0 {
			t.Errorf("%s: the row does not say whether the file may say it: expected Said", in.Name)
		}
		if in.Said != setting.Never && (in.Secret || !in.isFor(Promote)) {
			t.Errorf("%s is no input that a file of the repository may say", in.Name)
		}
		for _, guard := range in.Of {
			if named(All(), guard).Said != setting.Guard {
				t.Errorf("%s: %s is no guard", in.Name, guard)
			}
		}
		if in.Said == setting.Guard {
			guards++
		}
	}
	if guards < 20 {
		t.Errorf("%d inputs are guards, want twenty at least", guards)
	}
}

// TestReadPipeline has what the settings come to where the file says something.
func TestReadPipeline(t *testing.T) {
	t.Parallel()
	file, err := pipeline.Parse([]byte(`version: 1
path: apps/{service}/overlays/{environment}
defaults: {application: "{service}-{environment}", argocd-server: argo.example.com, timeout: 2h}
environments:
  staging: {}
  production: {from: staging, soak: 1h, steps: "10@30m,100", strict: true, override: true}
`), FileKeys())
	if err != nil {
		t.Fatal(err)
	}
	base := []string{"INPUT_PATH=", "INPUT_APPLICATION=", "INPUT_ARGOCD-SERVER=", "INPUT_STEPS=100", "INPUT_TIMEOUT=30m", "INPUT_STRICT=false"}
	for _, test := range []struct {
		env  []string
		want string
		fail string
	}{
		{env: []string{"INPUT_ENVIRONMENT=production"},
			want: "apps/product-import/overlays/production product-import-production argo.example.com from=apps/product-import/overlays/staging soak=1h0m0s steps=2 strict=true timeout=2h0m0s images=0"},
		{env: []string{"INPUT_ENVIRONMENT=staging", "INPUT_IMAGE=app:v2"},
			want: "apps/product-import/overlays/staging product-import-staging argo.example.com from= soak=0s steps=1 strict=false timeout=2h0m0s images=1"},
		{env: []string{"INPUT_PATH=./apps/product-import/overlays/production/", "INPUT_SOAK=2h", "INPUT_TIMEOUT=3h", "INPUT_ARGOCD-SERVER=other.example.com", "INPUT_FROM=staging"},
			want: "apps/product-import/overlays/production product-import-production other.example.com from=apps/product-import/overlays/staging soak=2h0m0s steps=2 strict=true timeout=3h0m0s images=0"},
		{env: []string{"INPUT_ENVIRONMENT=production", "INPUT_IMAGE=app:v2", "INPUT_OVERRIDE=guards", "INPUT_REASON=x"},
			want: "apps/product-import/overlays/production product-import-production argo.example.com from= soak=0s steps=2 strict=true timeout=2h0m0s images=1"},
		{env: []string{"INPUT_PATH=apps/x/overlays/other", "INPUT_APPLICATION=a", "INPUT_ARGOCD-SERVER=b"},
			want: "apps/x/overlays/other a b from= soak=0s steps=1 strict=false timeout=30m0s images=0"},
		{env: []string{"INPUT_ENVIRONMENT=production", "INPUT_SOAK=soon"},
			fail: `soak: "soon" (INPUT_SOAK): expected a duration above zero with its unit (90s, 5m, 1h30m); for example: 1h`},
		{env: []string{"INPUT_ENVIRONMENT=production", "INPUT_TIMEOUT=10m"},
			fail: `timeout: "10m0s": the steps alone must stay good for 30m0s; expected more than that, for example: 1h0m0s`},
	} {
		s, err := readWith(t, file, append(slices.Clone(base), test.env...)...)
		got := strings.Join([]string{s.Target.Overlay, s.Target.App.String(), s.Argo.Server}, " ")
		got += fmt.Sprintf(" from=%s soak=%s steps=%d strict=%t timeout=%s images=%d", strings.Join(s.Promote.From, ","), s.Promote.Soak, len(s.Promote.Steps), s.Promote.Strict, s.Timeout, len(s.Promote.Images))
		if test.fail != "" {
			got, test.want = "", test.fail
			if err != nil {
				got = err.Error()
			}
		} else if err != nil {
			t.Errorf("%v: %v", test.env, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.env, diff)
		}
	}
	s, err := readWith(t, file, append(base, "INPUT_ENVIRONMENT=production")...)
	if got, want := s.CommandLine(Promote, func(Input) bool { return true }), "knative-promote promote --service product-import --environment production --repository acme/infra"; got != want || err != nil {
		t.Errorf("the command to paste is\n%s, %v\nwant\n%s", got, err, want)
	}
	if got, want := s.Promote.Guards.Given["soak"]+s.Promote.Guards.Given["on-failure"], "1h"+string(promote.RollBack); got != want {
		t.Errorf("the run keeps that it was given %q, want %q", got, want)
	}
}

func readWith(t *testing.T, file pipeline.File, env ...string) (Settings, error) {
	t.Helper()
	return Read(Parse(nil), consoletest.Enough(env...), console.Workflow{ServerURL: "https://github.com"}, file)
}

// TestPipelineTimes: a run may be given less time than the file gives to a part of
// it, and a rollback has what it needs where the file says no timeout.
func TestPipelineTimes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		said string
		env  []string
		want string
	}{
		{"merge-timeout: 2h, timeout: 5h", []string{"INPUT_IMAGE=unchanged", "INPUT_IMAGE=unchanged"}, ""},
		{"merge-timeout: 2h, timeout: 5h", []string{"INPUT_IMAGE=unchanged", "INPUT_TIMEOUT=10m"}, ""},
		{"wait-timeout: 20m, timeout: 5h", []string{"INPUT_IMAGE=unchanged", "INPUT_TIMEOUT=10m"}, ""},
		{"wait-timeout: 2h", []string{"INPUT_COMMAND=rollback"}, ""},
		{"merge-timeout: 2h", []string{"INPUT_COMMAND=rollback"}, ""},
		{"merge-timeout: 2h", []string{"INPUT_IMAGE=unchanged"}, `merge-timeout: "2h0m0s": longer than the whole run's timeout of 30m0s; expected less, or a longer timeout`},
		{"merge-timeout: 2h, timeout: 1h", []string{"INPUT_IMAGE=unchanged"}, `merge-timeout: "2h0m0s": longer than the whole run's timeout of 1h0m0s; expected less, or a longer timeout`},
		{"timeout: 5h", []string{"INPUT_IMAGE=unchanged", "INPUT_MERGE-TIMEOUT=6h"}, `merge-timeout: "6h0m0s": longer than the whole run's timeout of 5h0m0s; expected less, or a longer timeout`},
		{"wait-timeout: 2h", []string{"INPUT_IMAGE=unchanged"}, `wait-timeout: "2h0m0s": longer than the whole run's timeout of 30m0s; expected less, or a longer timeout`},
	} {
		file, err := pipeline.Parse([]byte("version: 1\npath: apps/{service}/overlays/{environment}\nenvironments: {production: {mode: pull-request, "+test.said+"}}\n"), FileKeys())
		if err != nil {
			t.Fatal(err)
		}
		_, err = readWith(t, file, append(test.env, "INPUT_PATH=", "INPUT_ENVIRONMENT=production", "INPUT_TOKEN=git-secret")...)
		if got := textOf(err); got != test.want {
			t.Errorf("%s %v: %s, want %s", test.said, test.env, got, test.want)
		}
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestPipelineExample reads the example file.
func TestPipelineExample(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../.github/examples/knative-promote.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file, err := pipeline.Parse(text, FileKeys())
	if err != nil {
		t.Fatal(err)
	}
	for i, environment := range []string{"dev", "staging", "production"} {
		image := []string{"INPUT_IMAGE=ghcr.io/acme/product-import:v2.0.0", "", ""}[i] // the others have a source
		s, err := readWith(t, file, "INPUT_PATH=", "INPUT_APPLICATION=", "INPUT_ENVIRONMENT="+environment, "INPUT_TOKEN=git-secret", image)
		if err != nil || s.Target.App.Name != "product-import-"+environment || (len(s.Promote.From) == 0) != (i == 0) {
			t.Errorf("%s: %v, application %s, images from %q", environment, err, s.Target.App, s.Promote.From)
		}
	}
}
