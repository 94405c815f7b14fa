//go:build cluster

package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/fake/argotest"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/promote/event"
)

// statesFile are the states of an Application and its Service that a real Argo
// CD was seen to pass through. A run sees most of them, not all; -update adds
// those that it sees.
const statesFile = "testdata/states.txt"

// TestModel plays one script of promotions and faults against the real
// control plane and against the embedded one that the other tests and the
// sandbox use: each run must end the same way, by the same verdicts of the same
// gates, and what the embedded one shows on the way must be something that the
// real one was seen to show.
func TestModel(t *testing.T) {
	t.Parallel()
	real := &stage{site: newSite(t)}
	real.states = real.site.states
	model := modelled(t, real.site)
	var verdicts [2][]string
	var states [2]map[string]bool
	var both sync.WaitGroup
	for i, st := range []*stage{real, model} {
		both.Go(func() {
			states[i] = st.watched(func() { verdicts[i] = st.play() })
		})
	}
	both.Wait()
	if diff := cmp.Diff(verdicts[0], verdicts[1]); diff != "" {
		t.Errorf("verdicts (-real +model):\n%s", diff)
	}
	known := knownStates(t, states[0])
	for state := range states[1] {
		if !known[state] {
			t.Errorf("the model shows a state that the real one was never seen in: %s", state)
		}
	}
	t.Logf("%d states of the real one, %d of the model", len(known), len(states[1]))
}

// A stage is where the script is played.
type stage struct {
	*site
	inputs []string                                                               // beside the site's own
	states func(context.Context, func(*v1alpha1.Application, *servingv1.Service)) // tells what is there until the context ends
}

// modelled is a stage with a copy of the site's repository, deployed by the
// embedded Argo CD.
func modelled(t *testing.T, s *site) *stage {
	t.Helper()
	root := t.TempDir()
	_, err := gittest.Git(root, nil, "clone", "--quiet", "--bare", s.Dir, "infra.git")
	s.must(err)
	copied := *s
	copied.Dir = root + "/infra.git"
	for _, setting := range []string{"uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"} {
		copied.git("config", setting, "true")
	}
	url, stop, err := (&gittest.Server{Root: root, Token: gitPassword}).Serve()
	s.must(err)
	t.Cleanup(stop)
	copied.URL = url + "/infra.git"
	server, err := argotest.Start(argotest.Config{Token: "token", ProgressDeadline: 20 * time.Second, Apps: []argotest.App{{
		Name: s.App.GetName(), RepoURL: copied.URL, GitDir: copied.Dir, Path: s.Overlay,
		DestinationNamespace: s.Namespace, AutoSync: true, SelfHeal: true,
	}}})
	s.must(err)
	t.Cleanup(server.Close)
	copied.eventually("the model has deployed the Service", func() bool {
		live := server.Service(s.Namespace, s.Service)
		return live != nil && live.IsReady()
	})
	inputs := []string{
		"ARGOCD_SERVER=" + server.Addr(), "ARGOCD_AUTH_TOKEN=token", "argocd-ca=" + string(server.CA()), "probe-connect=" + server.Ingress(),
	}
	return &stage{&copied, inputs, func(ctx context.Context, see func(*v1alpha1.Application, *servingv1.Service)) {
		for ; ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
			see(server.Application(s.App.GetName()), server.Service(s.Namespace, s.Service))
		}
	}}
}

// states tells every state of the Application and the Service that Kubernetes
// tells of.
func (s *site) states(ctx context.Context, see func(*v1alpha1.Application, *servingv1.Service)) {
	one := func(resource schema.GroupVersionResource, namespace, name string) <-chan watch.Event {
		stream, err := kube.Resource(resource).Namespace(namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil {
			s.Errorf("watching %s: %v", name, err)
			return nil
		}
		return stream.ResultChan()
	}
	apps, live := one(applications, s.App.GetNamespace(), s.App.GetName()), one(services, s.Namespace, s.Service)
	app, service := &v1alpha1.Application{}, &servingv1.Service{}
	for {
		var err error
		select {
		case event := <-apps:
			app = &v1alpha1.Application{}
			err = into(event, app)
		case event := <-live:
			service = &servingv1.Service{}
			err = into(event, service)
		case <-ctx.Done():
			return
		}
		if err != nil && ctx.Err() == nil {
			s.Errorf("watching: %v", err)
			return
		}
		if app.Name != "" && service.Name != "" {
			see(app, service)
		}
	}
}

// into reads the object of a watch's event.
func into(event watch.Event, object any) error {
	found, ok := event.Object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("event %q: %v", event.Type, event.Object)
	}
	text, err := found.MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(text, object)
}

// play runs the script and notes each verdict.
func (st *stage) play() []string {
	var seen []string
	act := func(command string, inputs ...string) {
		seen = append(seen, st.verdicts(command, append(inputs, st.inputs...))...)
	}
	image := func(tag string) string { return "image=" + st.Image + ":" + tag }
	act("promote", image("v2.0.0"), "steps=50,100")
	act("promote", image("v3.0.0-broken"), "steps=50,100")
	act("promote", image("v3.0.0-http500"), "steps=50,100")
	file := baseOf(st.Service)
	st.push("Use less memory under the same name", map[string]string{file: replaced(st.T, st.read(file), "memory: 512Mi", "memory: 128Mi")})
	act("promote", image("v4.0.0"), "steps=20,100")
	act("promote", image("v4.0.0"), "steps=20,100")
	act("rollback")
	return seen
}

// verdicts runs the program and tells how each gate of each step ended.
func (st *stage) verdicts(command string, inputs []string) []string {
	r := st.begin(command, append(inputs, "GITHUB_ACTIONS=true")...).wait() // outputs are for workflows
	var result event.Result
	if err := json.Unmarshal([]byte(r.output("report")), &result); err != nil {
		st.Errorf("reading the report: %v", err)
	}
	lines := []string{fmt.Sprintf("%s: exit code %d, %s", command, r.Code, result.Status)}
	for _, step := range result.Steps {
		line := fmt.Sprintf("  %s %s:", step.Name, step.Progress)
		for _, gate := range step.Gates {
			line += fmt.Sprintf(" %s %s", gate.Name, gate.Progress)
		}
		lines = append(lines, line)
	}
	return lines
}

// watched notes every state that is shown while something is done.
func (st *stage) watched(do func()) map[string]bool {
	states := map[string]bool{}
	ctx, stop := context.WithCancel(st.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		st.states(ctx, func(app *v1alpha1.Application, service *servingv1.Service) {
			for _, state := range statesOf(app, service) {
				states[state] = true
			}
		})
	})
	do()
	stop()
	watching.Wait()
	return states
}

// statesOf are the states that an Application and its Service are in, each by
// itself and as far as the one goes by the other, without times, hashes and
// names. The two move side by side, so that every pair of their states is
// possible for a moment.
func statesOf(app *v1alpha1.Application, service *servingv1.Service) []string {
	phase := "no operation"
	if app.Status.OperationState != nil {
		phase = string(app.Status.OperationState.Phase)
	}
	current := "current"
	if service.Status.ObservedGeneration != service.Generation {
		current = "behind"
	}
	ready, reason := "not known", ""
	if condition := service.Status.GetCondition(apis.ConditionReady); condition != nil {
		ready, reason = string(condition.Status), condition.Reason
	}
	latest := "its latest revision is ready"
	if service.Status.LatestCreatedRevisionName != service.Status.LatestReadyRevisionName {
		latest = "its latest revision is not ready"
	}
	sync, health := app.Status.Sync.Status, app.Status.Health.Status
	return []string{
		fmt.Sprintf("Application: %s, %s, %s", sync, health, phase),
		fmt.Sprintf("Service: %s, Ready is %s, %s", current, strings.TrimSpace(ready+" "+reason), latest),
		fmt.Sprintf("Both: %s, the Service's Ready is %s", health, ready),
	}
}

// knownStates are the recorded states and those of this run.
func knownStates(t *testing.T, now map[string]bool) map[string]bool {
	t.Helper()
	content, err := os.ReadFile(statesFile)
	if err != nil && !golden.Update() {
		t.Fatal(err)
	}
	known := maps.Clone(now)
	for line := range strings.Lines(string(content)) {
		known[strings.TrimSpace(line)] = true
	}
	if golden.Update() {
		golden.File(t, statesFile, strings.Join(slices.Sorted(maps.Keys(known)), "\n")+"\n")
	}
	return known
}
