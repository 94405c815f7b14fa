//go:build cluster

package scenario

import (
	"fmt"
	"testing"
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
	const job = `apiVersion: batch/v1
kind: Job
metadata: {name: once%s}
spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: once, image: ghcr.io/acme/app}]}}}
`
	jobs := func(l *layout) { go endJobs(t.Context(), l.Service, endOf) }
	troubles(t, map[string]trouble{
		"image-shared": {
			layout: beside(t, worker),
			ends:   1,
			with:   []string{"also=Deployment/worker"},
		},
		"image-shared renamed": {
			layout: beside(t, worker),
			ends:   1,
			fix: func(s *site) {
				s.push("Do as check says", map[string]string{"./beside.yaml": replaced(s.T, s.read("./beside.yaml"), "acme/app", "acme/worker")})
			},
		},
		"image-shared once": {
			layout: func(l *layout) { jobs(l); beside(t, fmt.Sprintf(job, ""))(l) },
			seen: func(s *site) {
				s.promote("v2.0.0", "steps=100", "wait-timeout=40s").exits(8).says("field is immutable")
			},
			fix: func(s *site) {
				s.push("Do as check says", map[string]string{"./beside.yaml": fmt.Sprintf(job, ", annotations: {argocd.argoproj.io/hook: Sync}")})
			},
		},
		"image-shared replaced": {
			layout: func(l *layout) { jobs(l); beside(t, fmt.Sprintf(job, ""))(l) },
			seen:   func(*site) {}, // as above
			fix: func(s *site) {
				s.push("Do as check says", map[string]string{"./beside.yaml": fmt.Sprintf(job, `, annotations: {argocd.argoproj.io/sync-options: "Force=true,Replace=true"}`)})
			},
		},
	})
}

// beside adds a manifest to the overlay.
func beside(t *testing.T, manifest string) func(*layout) {
	return func(l *layout) {
		l.set("./beside.yaml", manifest)
		kustomization := l.Overlay + "/kustomization.yaml"
		l.set("./kustomization.yaml", replaced(t, string(l.Files[kustomization].Data), "  - ../../base", "  - ../../base\n  - beside.yaml"))
	}
}
