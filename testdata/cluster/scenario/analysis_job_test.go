//go:build cluster

package scenario

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestAnalysisByJob: the templates of a team, as they are: a smoke test as a Job,
// which runs the candidate's image before it has traffic, the success rate and the
// latency. Nothing is pushed before the token may start Jobs.
func TestAnalysisByJob(t *testing.T) {
	t.Parallel()
	address := prometheusURL(t)
	s := newSite(t, withAnalysis(t), withSmokeTest(t))
	s.replace("v1.0.0")
	good := s.git("rev-parse", "main")
	defer s.listen(s.host(), 20*time.Millisecond).end()
	inputs := []string{
		"steps=50,100", "probe=", "probe-connect=", "prometheus=" + address, "on-inconclusive=rollback",
		"analysis=analysis/smoke-test.yaml at=candidate\nanalysis/success-rate.yaml at=50\nanalysis/latency-p99.yaml at=50\nanalysis/smoke-twice.yaml at=50",
		"analysis-args=prometheus=" + address + "\nlimit=1000",
	}
	s.promote("v2.0.0", inputs...).exits(13).says("error[may-not-start-jobs]: ", "p, ROLE, applications, action/batch/CronJob/create-job, default/"+s.App.GetName()+", allow")
	if tip := s.git("rev-parse", "main"); tip != good {
		t.Errorf("the branch is at %s, want %s: nothing may be pushed", tip, good)
	}
	s.grantJobs()
	s.promote("v2.0.0-failing", inputs...).exits(8).
		says("analysis: failed: smoke-test is Failed: 1 of 1 measurement failed, failureLimit is 0, the last because Job smoke-test-", " failed: BackoffLimitExceeded: Job has reached the specified backoff limit")
	s.restored(good, "v1.0.0")
	s.promote("v3.0.0", inputs...).exits(0).
		says("smoke-test: 1 of 1 measurement was successful", "success-rate: 4 of 4 measurements were successful", "latency-p99: 3 of 3 measurements were successful", "again: 2 of 2 measurements were successful")
	s.settled("v3.0.0")
	s.hasJobs(4)
}

// TestAnalysisByEndlessJob: a run is killed while its Job runs. The next one starts
// one of its own, once, and does not wait for ever.
func TestAnalysisByEndlessJob(t *testing.T) {
	t.Parallel()
	s := newSite(t, withAnalysis(t), withSmokeTest(t))
	s.replace("v1.0.0")
	good := s.git("rev-parse", "main")
	s.grantJobs()
	inputs := []string{"steps=100", "analysis=analysis/smoke-test.yaml at=candidate"}
	killed := s.begin("promote", append([]string{"image=" + s.Image + ":v2.0.0-endless"}, inputs...)...)
	s.hasJobs(1)
	killed.signal(syscall.SIGKILL)
	killed.wait()
	s.promote("v2.0.0-endless", inputs...).exits(8).
		says("analysis: failed: smoke-test is Error: could not be measured, the last because Job smoke-test-", ": it has not ended: no answer in 2m5s")
	s.hasJobs(2)
	s.restored(good, "v1.0.0")
}

// withSmokeTest adds a suspended CronJob of the Service's image to the overlay, and
// lets its Jobs end as their image says.
func withSmokeTest(t *testing.T) func(*layout) {
	return func(l *layout) {
		l.set("./smoke-test.yaml", `apiVersion: batch/v1
kind: CronJob
metadata: {name: smoke-test}
spec:
  suspend: true
  schedule: 0 0 1 1 *
  successfulJobsHistoryLimit: 10
  jobTemplate:
    spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: test, image: ghcr.io/acme/app}]}}}
`)
		kustomization := l.Overlay + "/kustomization.yaml"
		l.set("./kustomization.yaml", replaced(t, string(l.Files[kustomization].Data), "  - ../../base", "  - ../../base\n  - smoke-test.yaml"))
		go endJobs(t.Context(), l.Service, endOf)
	}
}

// grantJobs gives the promoters' role the right to start Jobs of the Application,
// and waits until Argo CD has read it.
func (s *site) grantJobs() {
	s.Helper()
	policy := fmt.Sprintf("p, role:promoter, applications, action/batch/CronJob/create-job, default/%s, allow\n", s.App.GetName())
	setting("argocd", "argocd-rbac-cm", "policy."+s.Service+".csv", policy)(s)
	s.findsNot("may-not-start-jobs", "analysis=analysis/smoke-test.yaml at=candidate")
}

// hasJobs waits until so many Jobs of the smoke test are there.
func (s *site) hasJobs(n int) {
	s.Helper()
	jobs := kube.Resource(schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}).Namespace(s.Namespace)
	s.eventually(fmt.Sprintf("there are %d Jobs", n), func() bool {
		list, err := jobs.List(s.Context(), metav1.ListOptions{})
		s.must(err)
		found := 0
		for _, job := range list.Items {
			if strings.HasPrefix(job.GetName(), "smoke-test-") {
				found++
			}
		}
		return found == n
	})
}
