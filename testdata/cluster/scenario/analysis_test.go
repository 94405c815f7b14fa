//go:build cluster

package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/internal/fake/strays"
)

// TestAnalysisByPrometheus: the templates for the success rate and the latency,
// which another one names, measure by a real Prometheus what the users of a
// candidate are answered. Nothing else than they can tell the images apart.
func TestAnalysisByPrometheus(t *testing.T) {
	t.Parallel()
	address := prometheusURL(t)
	s := newSite(t, withAnalysis(t))
	s.replace("v1.0.0")
	good := s.git("rev-parse", "main")
	defer s.listen(s.host(), 20*time.Millisecond).end()
	inputs := []string{
		"steps=50,100", "probe=", "probe-connect=", "prometheus=" + address, "on-inconclusive=rollback",
		"analysis=analysis/all.yaml at=50\nanalysis/success-rate.yaml at=50\nanalysis/latency-p99.yaml at=50",
		"analysis-args=prometheus=" + address + "\nlimit=1000",
	}
	s.promote("v2.0.0-fail60", inputs...).exits(8).says("analysis: failed: success-rate is Failed: 2 of 2 measurements failed, failureLimit is 1, the last with [0.")
	s.restored(good, "v1.0.0")
	s.promote("v3.0.0-lag2000", inputs...).exits(8).says("analysis: failed: latency-p99 is Failed: 2 of 2 measurements failed, failureLimit is 1, the last with [")
	s.restored(good, "v1.0.0")
	s.promote("v4.0.0", inputs...).exits(0).says("success-rate: 4 of 4 measurements were successful", "latency-p99: 3 of 3 measurements were successful")
	s.settled("v4.0.0")
}

// TestAnalysisWithoutData: nothing that Prometheus has no data for passes, and
// nothing where there is no Prometheus.
func TestAnalysisWithoutData(t *testing.T) {
	t.Parallel()
	address := prometheusURL(t)
	s := newSite(t, withAnalysis(t))
	s.replace("v1.0.0")
	good := s.git("rev-parse", "main")
	inputs := []string{"steps=50,100", "probe=", "probe-connect=", "wait-for-data=5s", "analysis=analysis/no-data.yaml at=candidate"}
	s.promote("v2.0.0", append(inputs, "prometheus="+address)...).exits(9).
		says("analysis: inconclusive: no-data is Inconclusive: there was no data, ", "; Argo Rollouts would say Successful")
	s.answersOnly("v1.0.0")
	s.begin("rollback").wait().exits(0)
	s.restored(good, "v1.0.0")

	nobody := httptest.NewServer(nil)
	nobody.Close()
	s.promote("v3.0.0", append(inputs, "prometheus="+nobody.URL)...).exits(8).says("analysis: failed: no-data is Error: ", "connection refused")
	s.restored(good, "v1.0.0")
}

// TestAnalysisByWeb: a service that scores models is asked for the candidate's
// own answers, before it has any traffic.
func TestAnalysisByWeb(t *testing.T) {
	t.Parallel()
	const token = "5corer-t0ken"
	scorer := httptest.NewServer(scoring{t, token})
	t.Cleanup(scorer.Close)
	s := newSite(t, withAnalysis(t))
	s.must(world.Credentials().Add(strays.Credential{Name: "the scorer's token", Secret: token}))
	s.promote("v1.0.0-score93", "steps=100").exits(0)
	good := s.git("rev-parse", "main")
	inputs := []string{
		"steps=100", "analysis=analysis/model-quality.yaml at=candidate", "analysis-args=scorer=" + scorer.URL, "analysis-secrets=scorer/token=" + token,
	}
	bad := s.promote("v2.0.0-score71", inputs...).exits(8).says(`analysis: failed: accuracy is Failed: 1 of 1 measurement failed, failureLimit is 0, the last with { "accuracy": "0.71", "samples": 10 }`)
	s.restored(good, "v1.0.0-score93")
	s.promote("v3.0.0-score94", inputs...).exits(0).says("analysis: passed: accuracy: 1 of 1 measurement was successful")
	s.settled("v3.0.0-score94")
	good = s.git("rev-parse", "main")
	refused := s.promote("v4.0.0-score99", append(inputs, "analysis-secrets=scorer/token=an-0ld-one")...).exits(8).says("analysis: failed: accuracy is Error: ", "answered 401 Unauthorized")
	s.restored(good, "v3.0.0-score94")
	for _, r := range []*run{bad, refused} {
		if strings.Contains(r.log.String(), token) || strings.Contains(r.log.String(), "an-0ld-one") {
			t.Error("the log has the token")
		}
	}
}

// withAnalysis adds the templates of testdata/analysis to the infra repository.
func withAnalysis(t *testing.T) func(*layout) {
	return func(l *layout) {
		files, err := filepath.Glob("testdata/analysis/*.yaml")
		if err != nil || len(files) == 0 {
			t.Fatal("no templates: ", err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			l.set("analysis/"+filepath.Base(file), string(content))
		}
	}
}

// scoring scores a model by what it says of itself in ten answers.
type scoring struct {
	t     *testing.T
	token string
}

func (s scoring) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+s.token {
		http.Error(w, "who is that?", http.StatusUnauthorized)
		return
	}
	const samples = 10
	var asked struct{ Model, Image string }
	err := json.NewDecoder(r.Body).Decode(&asked)
	sum := 0
	for n := 0; n < samples && err == nil; n++ {
		var a answer
		a, err = request(r.Context(), strings.TrimPrefix(asked.Model, "http://"))
		if err == nil && a.Image != asked.Image {
			err = fmt.Errorf("%+v answers, want the image %s", a, asked.Image)
		}
		sum += a.Score
	}
	if err != nil {
		s.t.Errorf("scoring the model behind %q: %v", asked.Model, err)
	}
	fmt.Fprintf(w, `{"data": {"accuracy": "%.2f", "samples": %d}}`, float64(sum)/samples/100, samples)
}
