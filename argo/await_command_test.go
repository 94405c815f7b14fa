package argo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// older is the same operation as one of an older commit.
func older(ob Observed) Observed {
	ob.App.Status.OperationState.SyncResult.Revision = "3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c"
	ob.App.Status.OperationState.Operation.InitiatedBy.Automated = true
	return ob
}

// TestAwaitSyncsTheServiceAlone has a sync that restores fail, or hang, before it comes to the Service.
func TestAwaitSyncsTheServiceAlone(t *testing.T) {
	in, out := scene(t, "out-of-sync")
	_, live := scene(t, "recorded-candidate-live")
	in = handed(in)
	in.Alone = true
	operation := func(phase common.OperationPhase, retries int64, message string, only ...v1alpha1.SyncOperationResource) Observed {
		now := out
		if phase == common.OperationSucceeded {
			now = live
		}
		now.App = now.App.DeepCopy()
		state := now.App.Status.OperationState
		state.Phase, state.RetryCount, state.Message, state.StartedAt = phase, retries, message, metav1.Now()
		state.SyncResult.Resources, state.SyncResult.Revision = nil, now.App.Status.Sync.Revision
		state.Operation.Sync = &v1alpha1.SyncOperation{Resources: only}
		if retries == 0 && phase == common.OperationRunning {
			state.FinishedAt = nil
		}
		return now
	}
	ours := v1alpha1.SyncOperationResource{Group: "serving.knative.dev", Kind: "Service", Name: in.Service}
	const why = "one or more synchronization tasks are not valid"
	tests := map[string]struct {
		first, then Observed
		refuse      error
		took        time.Duration // until the operation is terminated
		want        []command
		unapplied   bool
	}{
		"it fails again and again": {operation(common.OperationRunning, 2, why), operation(common.OperationSucceeded, 0, "", ours), nil, time.Second, []command{terminate, syncOurs}, false},
		"it hangs":                 {operation(common.OperationRunning, 0, why), operation(common.OperationSucceeded, 0, "", ours), nil, 2*time.Minute + 30*time.Second, []command{terminate, syncOurs}, false},
		"it hangs in a short wait": {operation(common.OperationRunning, 0, why), operation(common.OperationSucceeded, 0, "", ours), nil, time.Minute, []command{terminate, syncOurs}, false},
		"it hangs, others push":    {operation(common.OperationRunning, 0, why), operation(common.OperationSucceeded, 0, "", ours), nil, 2*time.Minute + 30*time.Second, []command{terminate, syncOurs}, false},
		"an older one hangs":       {older(operation(common.OperationRunning, 0, why)), live, nil, 2*time.Minute + 30*time.Second, []command{terminate}, false},
		"the Service fails alone":  {operation(common.OperationRunning, 2, why), operation(common.OperationFailed, 0, "no", ours), nil, time.Second, []command{terminate, syncOurs}, true},
		"the token may not sync":   {operation(common.OperationRunning, 2, why), out, ErrAuth, time.Second, []command{terminate}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &play{refuse: map[command]error{terminate: test.refuse, syncOurs: test.refuse}}
				p.scene = func(time.Duration, *play) (Observed, error) {
					switch {
					case slices.Contains(p.commands, syncOurs):
						return test.then, nil
					case len(test.want) == 1 && slices.Contains(p.commands, terminate) && test.refuse == nil:
						return test.then, nil
					case test.refuse == nil && slices.Contains(p.commands, terminate):
						return operation(common.OperationFailed, 0, "Operation terminated"), nil
					}
					if strings.Contains(name, "others push") {
						return comparedAnew(test.first, p), nil
					}
					return test.first, nil
				}
				p.begin = time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), max(2*test.took, time.Minute))
				defer cancel()
				w := &waiter{argo: p, in: in, events: new(events)}
				ob, err := w.run(ctx)
				if (err != nil) != test.unapplied || IsUnapplied(err) != test.unapplied || time.Since(p.begin) > test.took+30*time.Second {
					t.Errorf("got %v after %v", err, time.Since(p.begin))
				}
				if diff := cmp.Diff(test.want, p.commands); diff != "" {
					t.Errorf("commands (-want +got):\n%s", diff)
				}
				if len(test.want) == 2 && !test.unapplied && ob.Alone != why {
					t.Errorf("got %q: expected why the Service alone was synced", ob.Alone)
				}
			})
		})
	}
}

// comparedAnew is an Observed of which Argo CD has compared another commit every half minute.
func comparedAnew(ob Observed, p *play) Observed {
	ob.App = ob.App.DeepCopy()
	ob.App.Status.Sync.Revision = fmt.Sprintf("%040x", time.Since(p.begin)/(30*time.Second))
	return ob
}

// TestHangsWithin: a run that is ended has few seconds to restore, and takes no sync of others for one
// that hangs because of it.
func TestHangsWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for wait, want := range map[time.Duration]time.Duration{7 * time.Second: 30 * time.Second, 90 * time.Second: 45 * time.Second, 10 * time.Minute: 2 * time.Minute} {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			if got := hangsWithin(ctx); got != want {
				t.Errorf("in a wait of %s: got %s, want %s", wait, got, want)
			}
			cancel()
		}
		if got := hangsWithin(t.Context()); got != 2*time.Minute {
			t.Errorf("without an end: got %s", got)
		}
	})
}
