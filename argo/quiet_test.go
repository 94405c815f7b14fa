package argo

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/health"
)

// TestAnnounced says of each kind of wait whether an event of the Application tells of its
// end. Where it would be wrong to say yes, a wait sees the end half a minute late.
func TestAnnounced(t *testing.T) {
	t.Parallel()
	neighbour := func(status health.HealthStatusCode) v1alpha1.ResourceStatus {
		return v1alpha1.ResourceStatus{Group: "apps", Kind: "Deployment", Name: "other", Health: &v1alpha1.HealthStatus{Status: status}}
	}
	tree := func(app *v1alpha1.Application) {
		app.Status.ResourceHealthSource = v1alpha1.ResourceHealthLocationAppTree
	}
	for _, test := range []struct {
		scene  string
		change func(*v1alpha1.Application)
		want   bool
	}{
		{"recorded-commit-not-seen", nil, true},
		{"sync-hook", nil, true},
		{"out-of-sync", nil, true},
		{"recorded-candidate-ingress", nil, true},
		{"recorded-candidate-ingress", tree, true},
		{"recorded-candidate-ingress", func(app *v1alpha1.Application) {
			tree(app)
			app.Status.Resources = append(app.Status.Resources, neighbour(health.HealthStatusHealthy))
		}, true},
		{"recorded-candidate-ingress", func(app *v1alpha1.Application) {
			tree(app)
			app.Status.Resources = append(app.Status.Resources, neighbour(health.HealthStatusProgressing))
		}, false},
		{"recorded-candidate-ingress", func(app *v1alpha1.Application) {
			tree(app)
			app.Status.Health.Status = health.HealthStatusDegraded
		}, false},
		{"recorded-candidate-ingress", func(app *v1alpha1.Application) { app.Status.Resources[0].Health = nil }, false},
		{"recorded-candidate-ingress", func(app *v1alpha1.Application) {
			app.Status.Resources[0].Health.Status = health.HealthStatusHealthy // before Argo CD has noticed
		}, false},
		{"recorded-candidate-live", nil, false},
		{"superseded", nil, false},
		{"relation-unknown", nil, false},
		{"reconciled-before-sync", nil, false},
		{"revision-missing-false", nil, false},
		{"recorded-comparison-error", nil, false},
		{"revision-unschedulable", nil, false},
		{"stale-health", nil, false},
		{"routes-nothing", nil, false},
		{"revision-becoming-ready", nil, false},
		{"traffic-only-routes-unknown", nil, false},
		{"others-hook-not-live", nil, false},
	} {
		in, ob := scene(t, test.scene)
		if test.change != nil {
			test.change(ob.App)
		}
		if v := Judge(in, ob, Memory{}); announced(in, ob, v) != test.want {
			t.Errorf("%s: %s: want %v", test.scene, v.Reason, test.want)
		}
	}
}

// TestAwaitHelpsInAQuietWait wants the commands to come as soon as while polling.
func TestAwaitHelpsInAQuietWait(t *testing.T) {
	in, stuck := scene(t, "out-of-sync")
	synctest.Test(t, func(t *testing.T) {
		n := &events{wake: make(chan struct{}, 1)}
		n.tell(&stuck.App.ResourceVersion)
		p := &play{
			scene:  func(time.Duration, *play) (Observed, error) { return stuck, nil },
			refuse: map[command]error{syncStuck: errors.New("a sync window is closed")},
		}
		limit := stuckAfter + 3*commandPause + time.Second
		if _, _, err := await(in, p, limit, n); len(p.commands) != 4 {
			t.Errorf("sent %v in %v, %v: expected four commands", p.commands, limit, err)
		}
	})
}
