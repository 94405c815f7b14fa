package analysis_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/promote/analysis"
)

// TestSecretsAreHiddenBeforeTheCut has a Prometheus repeat a query with a secret
// of several words in it, which stands wherever what is shown could end.
func TestSecretsAreHiddenBeforeTheCut(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"status": "error", "errorType": "bad_data", "error": %q}`, strings.Repeat(r.FormValue("query")+" ", 100))
	}))
	defer server.Close()
	file := fmt.Sprintf(`
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: echo}
spec:
  args: [{name: words, valueFrom: {secretKeyRef: {name: api, key: words}}}]
  metrics:
    - name: echo
      consecutiveErrorLimit: 0
      successCondition: result[0] < 1
      provider: {prometheus: {address: %q, query: "{{args.words}}"}}
`, server.URL)
	inputs := analysis.Inputs{Entries: []analysis.Entry{{File: "echo.yaml"}}, Secrets: map[string]string{"api/words": "correct horse battery staple"}}
	sources := analysis.Sources{Prometheus: analysis.Prometheus{}}
	suite, wrong := analysis.Load(inputs, sources, []analysis.Step{{Percent: 100}}, fstest.MapFS{"echo.yaml": {Data: []byte(file)}})
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	asked, _ := suite.At(analysis.Step{Percent: 100}, facts)
	got, err := asked.Run(t.Context(), sources, analysis.Times{})
	if err != nil || !strings.Contains(got.Reason, "bad_data: *** *** ***") {
		t.Errorf("%s %v, expected the secret to be hidden", got.Reason, err)
	}
	for word := range strings.FieldsSeq("correct horse battery staple") {
		if strings.Contains(got.Reason, word) {
			t.Errorf("%q is a part of the secret, in %s", word, got.Reason)
		}
	}
}
