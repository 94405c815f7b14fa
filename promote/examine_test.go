package promote

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/facts"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/plan"
)

// around is everything that Examine asks, with the answers of one test.
type around struct {
	live      argo.Observed
	liveErr   error
	setup     argo.Setup
	setupErr  error
	push      error
	revisions map[string]error
	asked     []string
}

func (a *around) Tip(context.Context) (gitops.Snapshot, error) {
	return gitops.Snapshot{Commit: gitops.Commit{Hash: "3f9c2d1e0b5a"}, Tree: fstest.MapFS{
		"web/kustomization.yaml": {Data: []byte("resources: [service.yaml]\n")},
		"web/service.yaml": {Data: []byte("apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec:\n" +
			"  template: {spec: {containers: [{image: web}]}}\n" +
			"  traffic: [{revisionName: web-a, percent: 100}, {revisionName: web-b, tag: b, percent: 0}, {revisionName: web-c, tag: c, percent: 0}]\n")},
	}}, nil
}

func (*around) Publish(context.Context, gitops.Change) (gitops.Commit, error) {
	return gitops.Commit{}, errors.New("nothing may be published")
}

func (a *around) Live(context.Context, argo.Target) (argo.Observed, error) {
	return a.live, a.liveErr
}

func (*around) Check(context.Context, argo.Intent) (argo.Verdict, argo.Observed, error) {
	panic("not asked")
}

func (*around) Await(context.Context, argo.Intent, func(argo.Verdict)) (argo.Observed, error) {
	panic("not asked")
}

func (a *around) Revision(_ context.Context, _ argo.App, namespace, name string) (*servingv1.Revision, error) {
	a.asked = append(a.asked, namespace+"/"+name)
	return nil, a.revisions[name]
}

func (a *around) Setup(context.Context, argo.Target, *v1alpha1.Application, ...argo.Right) (argo.Setup, error) {
	return a.setup, a.setupErr
}

func (a *around) Essentials(context.Context, argo.Target, *v1alpha1.Application, ...argo.Right) argo.Setup {
	return a.setup
}

func (a *around) MayPush(context.Context) error { return a.push }

func (a *around) Namesakes(context.Context, string) (gitops.Namesakes, error) {
	return gitops.Namesakes{}, a.push
}

func (*around) Tell(event.Event, event.Result) {}
func (*around) Line(string)                    {}
func (*around) Debug(string)                   {}

func newAround() *around {
	live := &servingv1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
	live.Status.LatestReadyRevisionName = "web-a"
	return &around{live: argo.Observed{App: &v1alpha1.Application{}, Service: live}, setup: argo.Setup{App: &v1alpha1.Application{}}}
}

func (a *around) systems() Systems {
	return Systems{Branch: a, Cluster: a, Reporter: a, Facts: facts.Systems{Setup: a, Git: a}}
}

func examinedConfig() Config {
	return Config{Settings: plan.Settings{Steps: []plan.Step{{Percent: 10, Bake: time.Hour}, {Percent: 100}}}, Targets: []plan.Target{{Overlay: "web"}}, Gates: gate.Settings{Wait: time.Minute}}
}

// TestFacts looks at what becomes of the answers.
func TestFacts(t *testing.T) {
	t.Parallel()
	ordinary := errors.New("no answer")
	tests := map[string]struct {
		change func(*around)
		want   string // what the facts say, in short
	}{
		"all answered": {nil, "shifts, may push, revisions map[web-a:true web-aabf7f09:true web-b:true web-c:true], unread []"},
		"revisions": {func(a *around) { a.revisions = map[string]error{"web-b": argo.ErrNotFound, "web-c": ordinary} },
			"shifts, may push, revisions map[web-a:true web-aabf7f09:true web-b:false], unread [the revisions in the traffic: no answer]"},
		"push refused":  {func(a *around) { a.push = fmt.Errorf("no: %w", remote.ErrAuth) }, "shifts, may not push, revisions map[web-a:true web-aabf7f09:true web-b:true web-c:true], unread []"},
		"push unknown":  {func(a *around) { a.push = ordinary }, "shifts, revisions map[web-a:true web-aabf7f09:true web-b:true web-c:true], unread [the right to push: no answer]"},
		"setup unknown": {func(a *around) { a.setupErr = ordinary }, "shifts, may push, revisions map[web-a:true web-aabf7f09:true web-b:true web-c:true], unread [how Argo CD is set up: no answer]"},
		"no application": {func(a *around) { a.live, a.liveErr = argo.Observed{}, argo.ErrAuth },
			"no application, may push, revisions map[], unread []"},
		"no answer": {func(a *around) { a.live, a.liveErr = argo.Observed{}, ordinary },
			"no application, may push, revisions map[], unread []"},
		"no service yet": {func(a *around) { a.live.Service, a.liveErr = nil, argo.ErrNotFound },
			"may push, revisions map[], unread []"},
		"other source": {func(a *around) { a.live.Service, a.liveErr = nil, ordinary },
			"shifts, may push, revisions map[], unread [what is live: no answer]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAround()
			if test.change != nil {
				test.change(a)
			}
			r, err := open(t.Context(), event.CommandCheck, examinedConfig(), a.systems())
			if err != nil {
				t.Fatal(err)
			}
			facts, err := examined(t.Context(), r.targets[0])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, inShort(facts)); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

func inShort(f check.Facts) string {
	text := ""
	for _, part := range []struct {
		is   bool
		text string
	}{
		{f.NoApp != nil, "no application, "}, {f.Request.Shifts, "shifts, "},
		{f.PushAsked && f.Push == nil, "may push, "}, {f.PushAsked && f.Push != nil, "may not push, "},
	} {
		if part.is {
			text += part.text
		}
	}
	unread := []string{}
	for name, err := range f.Unread {
		unread = append(unread, name+": "+err.Error())
	}
	return text + fmt.Sprintf("revisions %v, unread %v", f.Revisions, unread)
}

func TestWorst(t *testing.T) {
	t.Parallel()
	p := &targetRun{config: examinedConfig(), gates: examinedConfig().gates(analysis.Sources{})}
	// the candidate, two steps, one of them baked for an hour and as long as a pod may take to start, and going back
	if got, want := worstOf(t.Context(), p), time.Hour+time.Minute+4*time.Minute; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	defer stop()
	if got := worstOf(ctx, p); got > 11*time.Minute || got < 10*time.Minute {
		t.Errorf("with a timeout of ten minutes it is %s", got)
	}
}

// TestExamineErrors has overlays that cannot be looked at.
func TestExamineErrors(t *testing.T) {
	t.Parallel()
	nowhere := examinedConfig()
	nowhere.Targets = []plan.Target{{Overlay: "nowhere"}}
	_, err := Examine(t.Context(), nowhere, newAround().systems())
	want := `path: folder "nowhere": not found in the infra repository at commit 3f9c2d1e0b: expected the overlay's folder, relative to the root`
	if err == nil || err.Error() != want || !errors.Is(err, remote.ErrNotFound) {
		t.Errorf("error %v, want %s", err, want)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Examine(ctx, examinedConfig(), newAround().systems()); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was cancelled says %v", err)
	}
}

// TestPreflight has an error, which every strictness treats in its own way.
func TestPreflight(t *testing.T) {
	t.Parallel()
	for preflight, want := range map[Preflight]string{
		"":             "the preflight found what would break the promotion, nothing was pushed: ",
		PreflightError: "the preflight found what would break the promotion, nothing was pushed: ",
		PreflightWarn:  "", PreflightOff: "", PreflightPlan: "", // nobody was asked who would refuse
	} {
		a := newAround()
		a.push = fmt.Errorf("pushing: %w", remote.ErrAuth)
		c := examinedConfig()
		c.Preflight = preflight
		r, err := open(t.Context(), event.CommandPromote, c, a.systems())
		if err != nil {
			t.Fatal(err)
		}
		p := r.targets[0]
		p.saw(a.live)
		err = p.preflight(t.Context())
		var stop *check.StopError
		if errors.As(err, &stop) != (want != "") || err != nil && err.Error()[:len(want)] != want {
			t.Errorf("preflight %q: error %v, want %q", preflight, err, want)
		}
		if found := len(p.journal.Result.Findings) > 0; found != (preflight != PreflightOff && preflight != PreflightPlan) {
			t.Errorf("preflight %q: found %v", preflight, p.journal.Result.Findings)
		}
	}
}
