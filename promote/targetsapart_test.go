package promote

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// telling is a cluster where a function says whether a commit is live.
type telling struct {
	*sick
	answer func(argo.Intent) error
}

func (a *telling) Await(ctx context.Context, in argo.Intent, report func(argo.Verdict)) (argo.Observed, error) {
	if err := a.answer(in); err != nil {
		return argo.Observed{}, err
	}
	return a.sick.Await(ctx, in, report)
}

// shareIn is the candidate's share of the traffic; -1: there is none.
func shareIn(in argo.Intent) int64 {
	for _, target := range in.Traffic {
		if target.Tag == "candidate" {
			return *target.Percent
		}
	}
	return -1
}

// personTakes has a person set an overlay's image.
func (p pair) personTakes(overlay, tag string) error {
	name := overlay + "/kustomization.yaml"
	text, err := gittest.Git(p.bare, nil, "show", "main:"+name)
	if err != nil {
		return err
	}
	return gittest.Commit(p.bare, "main", "Take "+tag, fstest.MapFS{name: {Data: []byte(strings.Replace(text, "v2", tag, 1) + "\n")}})
}

// TestTargetsOneSupersededFirst has a person change one of two before the next
// step of both: theirs stays, and the other one is not left half promoted.
func TestTargetsOneSupersededFirst(t *testing.T) {
	t.Parallel()
	for policy, want := range map[Policy]event.Status{RollBack: event.RolledBack, Hold: event.Held} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			on := &telling{p.failing(-1), func(in argo.Intent) error {
				if in.Service != "cart" || shareIn(in) != 50 {
					return nil
				}
				return p.personTakes("web", "v3")
			}}
			c := pairConfig([]plan.Step{{Percent: 50}, {Percent: 100}}, "web", "cart")
			c.OnFailure = policy
			results, err := p.run(c, on)
			if results[0].Status != event.Superseded || !p.has("web", "newTag: v3") || !isSuperseded(err) {
				t.Errorf("web ended %s, the run with %v", results[0].Status, err)
			}
			restored := p.has("cart", "newTag: v1")
			if results[1].Status != want || restored != (want == event.RolledBack) || !strings.Contains(results[1].Reason, "web: ") {
				t.Errorf("cart ended %s, restored: %t, because %s", results[1].Status, restored, results[1].Reason)
			}
		})
	}
}

// TestTargetsOneCannotBeRolledBack has a person break the overlay of one of two
// before the other fails, which is restored all the same.
func TestTargetsOneCannotBeRolledBack(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	on := &changing{p.failing(50), func() error {
		return gittest.Commit(p.bare, "main", "Break it", fstest.MapFS{"web/kustomization.yaml": {Data: []byte("resources: [nowhere.yaml]\n")}})
	}}
	results, err := p.promote(on, []plan.Step{{Percent: 50}, {Percent: 100}}, "web", "cart")
	if _, bad := errors.AsType[*RestoreError](err); !bad || results[0].Status != event.Failed {
		t.Errorf("web ended %s, the run with %v", results[0].Status, err)
	}
	if results[1].Status != event.RolledBack || !p.has("cart", "newTag: v1") {
		t.Errorf("cart ended %s, because %s", results[1].Status, results[1].Reason)
	}
}

// TestTargetsOneUnclear has a gate of one of two that cannot tell, while the
// other's has not answered yet, and then fails.
func TestTargetsOneUnclear(t *testing.T) {
	t.Parallel()
	p, told := newPair(t), make(chan struct{})
	on := &telling{p.failing(-1), func(in argo.Intent) error {
		switch {
		case shareIn(in) != 50:
			return nil
		case in.Service == "web":
			defer close(told)
			return gate.Inconclusive{Err: errors.New("too few")}
		}
		<-told
		return errors.New("sick")
	}}
	c := pairConfig([]plan.Step{{Percent: 50}, {Percent: 100}}, "web", "cart")
	c.OnInconclusive = Hold
	results, err := p.run(c, on)
	const want = "cart: 50 %: gate live: sick"
	for _, r := range results {
		if r.Status != event.RolledBack || err == nil || err.Error() != want {
			t.Errorf("%s ended %s, the run with %v, want %s", r.Service, r.Status, err, want)
		}
	}
}

// TestUnclearEndsNoOther has one that cannot tell while another is asked still,
// and one that fails.
func TestUnclearEndsNoOther(t *testing.T) {
	t.Parallel()
	for _, first := range []error{gate.Inconclusive{Err: errors.New("too few")}, errors.New("sick")} {
		synctest.Test(t, func(t *testing.T) {
			var other error
			err := untilOneFails(t.Context(), []bool{true, false}, func(ctx context.Context, isFirst bool) error {
				if isFirst {
					return first
				}
				other = sleep.For(ctx, time.Second)
				return nil
			})
			if !errors.Is(err, first) || (other == nil) != ask.IsInconclusive(first) {
				t.Errorf("with %v it ended with %v, the other one with %v", first, err, other)
			}
		})
	}
}

// TestTargetsOneAhead has one of two at 50 % already, and something that keeps the
// other one's candidate from being published: what stands is judged first.
func TestTargetsOneAhead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		failing int64
		web     event.Status
		cart    event.Status
	}{
		{"and good", -1, event.Held, event.Frozen},
		{"and bad", 50, event.RolledBack, event.Failed},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			if results, err := p.promote(p.failing(-1), []plan.Step{{Percent: 50}}, "web"); err != nil {
				t.Fatalf("%v, %v", results, err)
			}
			stop := fstest.MapFS{guard.DefaultWindows: {Data: []byte("stop: {reason: incident 4711}")}}
			if err := gittest.Commit(p.bare, "main", "Stop the line", stop); err != nil {
				t.Fatal(err)
			}
			on := p.failing(test.failing)
			on.service = "web"
			results, err := p.promote(on, []plan.Step{{Percent: 50}, {Percent: 100}}, "web", "cart")
			if results[0].Status != test.web || results[1].Status != test.cart || !p.has("cart", "newTag: v1") {
				t.Errorf("web ended %s, cart %s, the run with %v", results[0].Status, results[1].Status, err)
			}
			if got := len(results[0].Steps[0].Gates); got == 0 {
				t.Error("web was asked nothing")
			}
		})
	}
}

// TestGraver ranks what a run of several targets ends with.
func TestGraver(t *testing.T) {
	t.Parallel()
	unclear, failed := &ask.GateError{Err: gate.Inconclusive{Err: errors.New("too few")}}, &ask.GateError{Err: errors.New("sick")}
	rising := []error{nil, unclear, failed, plan.ErrSuperseded, &RestoreError{Err: failed}}
	for i, b := range rising {
		for _, a := range rising[:i] {
			if graver(a, b) != b || graver(b, a) != b {
				t.Errorf("of %v and %v the graver is %v", a, b, graver(a, b))
			}
		}
	}
	if other := errors.New("other"); graver(failed, other) != failed {
		t.Error("of two that are as grave it is not the first")
	}
}

// waning is a cluster in which the first revision of web is not Ready any more once
// a step to a share of the traffic was asked for.
type waning struct {
	*sick
	after int64
	down  atomic.Bool
}

func (w *waning) Await(ctx context.Context, in argo.Intent, report func(argo.Verdict)) (argo.Observed, error) {
	if shareIn(in) == w.after {
		w.down.Store(true)
	}
	return w.sick.Await(ctx, in, report)
}

func (w *waning) Revision(_ context.Context, _ argo.App, _, name string) (*servingv1.Revision, error) {
	revision := firstRevision()
	if name == "web-00001" && w.down.Load() {
		revision.Status.Conditions = duckv1.Conditions{{Type: apis.ConditionReady, Status: corev1.ConditionFalse, Reason: "ExitCode1"}}
	}
	return revision, nil
}

// TestTargetsOneDown has the old revision of one of two crash before the other one
// fails: that one is restored, and the run says of the first that it is not.
func TestTargetsOneDown(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	results, err := p.promote(&waning{sick: p.failing(50), after: 50}, []plan.Step{{Percent: 50}, {Percent: 100}}, "web", "cart")
	const want = "cart: 50 %: gate live: sick; not rolled back: web: revision web-00001, which had the traffic before, is not Ready (ExitCode1"
	if results[0].Status != event.Held || err == nil || !strings.HasPrefix(err.Error(), want) || !p.has("web", "newTag: v2") {
		t.Errorf("web ended %s, the run with %v, want %s", results[0].Status, err, want)
	}
	if results[1].Status != event.RolledBack || !p.has("cart", "newTag: v1") {
		t.Errorf("cart ended %s, because %s", results[1].Status, results[1].Reason)
	}
}

// TestExcludedRevisions has Argo CD know no revisions at all: the one that the live
// Service routes to is not gone, also as what is rolled back to.
func TestExcludedRevisions(t *testing.T) {
	t.Parallel()
	live := observedWith("web-00001").Service
	live.Status.Conditions = duckv1.Conditions{{Type: servingv1.ServiceConditionRoutesReady, Status: corev1.ConditionTrue}}
	live.Status.Traffic = []servingv1.TrafficTarget{{RevisionName: "web-00001", Percent: new(int64(100))}}
	for name, gone := range map[string]bool{"web-00001": false, "web-00000": true} {
		dest := plan.Destination{Version: record.Version{Revision: name}, Missing: argo.ErrNotFound, Service: live}
		if got := dest.Readiness(); got.Gone != gone {
			t.Errorf("%s: gone is %t, want %t", name, got.Gone, gone)
		}
	}
	if got := (plan.Destination{Version: record.Version{Revision: "web-00001"}, Missing: argo.ErrNotFound}).Readiness(); !got.Gone {
		t.Error("without the live Service a revision that nobody knows is not gone")
	}
}
