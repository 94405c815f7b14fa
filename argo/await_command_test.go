package argo

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
)

func TestAwaitHelps(t *testing.T) {
	in, off := scene(t, "recorded-auto-sync-off")
	inStuck, stuck := scene(t, "out-of-sync")
	inDrift, drifts := scene(t, "service-drifts")
	inBehind, blocked := scene(t, "recorded-waits-behind-refused")
	byHand := blocked
	byHand.App = blocked.App.DeepCopy()
	byHand.App.Status.OperationState.Operation.InitiatedBy = v1alpha1.OperationInitiator{Username: "ann"}
	rolledBack := byHand
	rolledBack.RolledBack = true
	invalid := blocked
	invalid.App = blocked.App.DeepCopy()
	invalid.App.Status.OperationState.Message = `one or more objects failed to apply, reason: error when patching "/dev/shm/1": Service.serving.knative.dev "web-b" is invalid: spec.template.spec.containers: Invalid value: "null"`
	forbidden := blocked
	forbidden.App = blocked.App.DeepCopy()
	forbidden.App.Status.OperationState.Message = `one or more objects failed to apply, reason: error when patching "/dev/shm/1": services.serving.knative.dev "web-b" is forbidden: ValidatingAdmissionPolicy 'releases-only' denied request: no release`
	away := blocked
	away.App = blocked.App.DeepCopy()
	away.App.Status.OperationState.Message = `one or more objects failed to apply, reason: failed calling webhook "webhook.serving.knative.dev": connection refused`
	denied := errors.New("syncing: not allowed")
	tests := map[string]struct {
		in     Intent
		scene  Observed
		refuse error
		want   []command
		reason string
	}{
		"auto-sync is off":              {in, off, nil, []command{syncNow}, "the application is out of sync at b6a7fed4 and does not sync by itself: the Service web-b"},
		"and it may not":                {in, off, denied, []command{syncNow, syncNow}, "the application is out of sync at b6a7fed4 and does not sync by itself: the Service web-b; syncing: not allowed"},
		"auto-sync forgot":              {inStuck, stuck, nil, []command{syncStuck}, "the application is out of sync at 08c13fd0: the Service web-b"},
		"a window is closed":            {inStuck, stuck, errWindow, []command{syncStuck}, "the application is out of sync at 08c13fd0: the Service web-b; a sync window is closed"},
		"a rollback is forgotten":       {handed(inStuck), stuck, nil, []command{syncHand}, "the application is out of sync at 08c13fd0: the Service web-b; auto-sync did not, as in a closed sync window, so this run has synced it by hand"},
		"a window for rollbacks too":    {handed(inStuck), stuck, errWindow, []command{syncHand}, "the application is out of sync at 08c13fd0: the Service web-b; a sync window is closed"},
		"a sync does not help":          {inDrift, drifts, nil, nil, ""},
		"an older commit blocks":        {inBehind, blocked, nil, []command{terminate}, ""},
		"an older commit is no Service": {inBehind, invalid, nil, []command{terminate}, ""},
		"an older commit is forbidden":  {inBehind, forbidden, nil, []command{terminate}, ""},
		"an older commit may yet heal":  {inBehind, away, nil, nil, ""},
		"an older one, started by hand": {inBehind, byHand, nil, nil, ""},
		"what is rolled back":           {inBehind, rolledBack, nil, []command{terminate}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &play{
					scene:  func(time.Duration, *play) (Observed, error) { return test.scene, nil },
					refuse: map[command]error{syncNow: test.refuse, syncStuck: test.refuse, syncHand: test.refuse},
				}
				last, _, err := await(test.in, p, 24*time.Second, nil)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
				if diff := cmp.Diff(test.want, p.commands); diff != "" {
					t.Errorf("commands (-want +got):\n%s", diff)
				}
				if test.reason != "" && last.Reason != test.reason {
					t.Errorf("got reason %q", last.Reason)
				}
			})
		})
	}
}

// handed is the intent as one that rolls back.
func handed(in Intent) Intent {
	in.Restores = true
	return in
}

func TestAwaitTerminatesEveryAttempt(t *testing.T) {
	in, blocked := scene(t, "recorded-waits-behind-refused")
	synctest.Test(t, func(t *testing.T) {
		p := &play{scene: func(at time.Duration, _ *play) (Observed, error) {
			now := blocked
			now.App = blocked.App.DeepCopy()
			if at >= 5*time.Second { // the attempt that ran when it was terminated has failed
				now.App.Status.OperationState.RetryCount++
			}
			return now, nil
		}}
		_, _, err := await(in, p, 24*time.Second, nil)
		if diff := cmp.Diff([]command{terminate, terminate}, p.commands); diff != "" {
			t.Errorf("commands until %v (-want +got):\n%s", err, diff)
		}
	})
}
