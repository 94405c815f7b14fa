//go:build cluster

package scenario

import "testing"

// TestAnalysisByJob: a smoke test that is a Job in a template is run as a CronJob
// of the overlay, by Argo CD's own action, with the candidate's image. Argo CD
// names a Job after the minute: a second measurement, and the next promotion,
// wait for the next.
func TestAnalysisByJob(t *testing.T) {
	t.Parallel()
	s := newSite(t, withAnalysis(t), withSmokeTest(t), func(l *layout) { go endJobs(t.Context(), l.Service) })
	s.replace("v1.0.0")
	good := s.git("rev-parse", "main")
	inputs := []string{"steps=50,100", "probe=", "probe-connect=", "timeout=25m", "analysis=analysis/smoke-test.yaml at=candidate"}
	s.promote("v2.0.0-failing", inputs...).exits(8).
		says("analysis: failed: smoke-test is Failed: 1 of 1 measurements failed, failureLimit is 0, the last because Job smoke-test-", "failed: BackoffLimitExceeded: Job has reached the specified backoff limit")
	s.restored(good, "v1.0.0")
	s.promote("v3.0.0", inputs...).exits(0).says("analysis: passed: smoke-test: 2 of 2 measurements were successful")
	s.settled("v3.0.0")
}

// withSmokeTest adds the CronJob of analysis/smoke-test.yaml.
func withSmokeTest(t *testing.T) func(*layout) {
	return func(l *layout) {
		l.set("./smoke-test.yaml", `apiVersion: batch/v1
kind: CronJob
metadata: {name: smoke-test}
spec:
  suspend: true
  schedule: 0 0 1 1 *
  jobTemplate: {spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: test, image: ghcr.io/acme/app}]}}}}
`)
		kustomization := l.Overlay + "/kustomization.yaml"
		l.set("./kustomization.yaml", replaced(t, string(l.Files[kustomization].Data), "  - ../../base", "  - ../../base\n  - smoke-test.yaml"))
	}
}
