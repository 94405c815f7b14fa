//go:build cluster

package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote/event"
)

// TestCheckImages: other objects of the overlay run the Service's image too.
func TestCheckImages(t *testing.T) {
	const worker = `apiVersion: apps/v1
kind: Deployment
metadata: {name: worker}
spec:
  replicas: 0
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec: {containers: [{name: worker, image: ghcr.io/acme/app}]}
`
	t.Parallel()
	for name, c := range map[string]struct {
		fix    func(*site)
		inputs []string
	}{
		"named": {func(*site) {}, []string{"also=Deployment/worker"}},
		"renamed": {func(s *site) {
			s.push("Do as check says", map[string]string{"./beside.yaml": replaced(s.T, s.read("./beside.yaml"), "acme/app", "acme/worker")})
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, beside(t, worker))
			if found := s.finds("image-shared", "image="); found.Severity != event.SeverityError || !strings.Contains(found.Fix, "\nDeployment/") {
				t.Fatalf("it is %s, and to fix it: %s", found.Severity, found.Fix)
			}
			s.promote("v2.0.0", "steps=100", "preflight=off").exits(1)
			c.fix(s)
			for _, tag := range []string{"v3.0.0", "v4.0.0"} {
				s.promote(tag, append(c.inputs, "steps=100")...).exits(0)
				s.settled(tag)
			}
			s.begin("rollback", c.inputs...).wait().exits(0)
			s.settled("v3.0.0")
		})
	}
}

// TestCheckJobOfTheImage: a Job that runs the Service's image cannot get another one, but by each of both ways that check says.
func TestCheckJobOfTheImage(t *testing.T) {
	t.Parallel()
	const job = `apiVersion: batch/v1
kind: Job
metadata: {name: once%s}
spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: once, image: ghcr.io/acme/app}]}}}
`
	for name, annotation := range map[string]string{
		"hook":     `argocd.argoproj.io/hook: Sync`,
		"replaced": `argocd.argoproj.io/sync-options: "Force=true,Replace=true"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, beside(t, fmt.Sprintf(job, "")), func(l *layout) { go endJobs(t.Context(), l.Service, endOf) })
			if fix := s.finds("image-shared").Fix; !strings.Contains(fix, strings.ReplaceAll(annotation, `"`, "")) {
				t.Fatalf("%s is not in:\n%s", annotation, fix)
			}
			s.promote("v2.0.0", "steps=100", "wait-timeout=40s").exits(8).says(`Job.batch "once" is invalid`)
			s.push("Do as check says", map[string]string{"./beside.yaml": fmt.Sprintf(job, ", annotations: {"+annotation+"}")})
			s.syncAgain()
			for _, tag := range []string{"v3.0.0", "v4.0.0"} {
				s.promote(tag, "steps=100").exits(0)
				s.settled(tag)
			}
			s.begin("rollback").wait().exits(0)
			s.settled("v3.0.0")
		})
	}
}

// beside adds a manifest to the overlay.
func beside(t *testing.T, manifest string) func(*layout) {
	return func(l *layout) {
		l.set("./beside.yaml", manifest)
		kustomization := l.Overlay + "/kustomization.yaml"
		l.set("./kustomization.yaml", replaced(t, string(l.Files[kustomization].Data), "  - ../../base", "  - ../../base\n  - beside.yaml"))
	}
}
