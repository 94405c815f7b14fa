package cluster

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"
)

// TestSequences compares the states that the objects pass through with those that a watch of Knative
// Serving 0.42.2's own controllers showed.
func TestSequences(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/sequences.txtar")
	if err != nil {
		t.Fatal(err)
	}
	w := watcher{t: t, cluster: New(Config{Domain: "example.test", ProgressDeadline: 1 << 40})}
	for _, file := range archive.Files {
		name, kind, _ := strings.Cut(file.Name, " ")
		if kind == "apply" {
			w.apply(file.Data)
			continue
		}
		if diff := gocmp.Diff(string(file.Data), w.seen[kind]); diff != "" {
			t.Errorf("%s: states of the %s (-real +model):\n%s", name, kind, diff)
		}
	}
}

// watcher notes every state of a kind.
type watcher struct {
	t       *testing.T
	cluster *Cluster
	seen    map[string]string
}

// apply applies a manifest and lets the controllers run until nothing moves.
func (w *watcher) apply(manifest []byte) {
	w.t.Helper()
	object := map[string]any{}
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		w.t.Fatal(err)
	}
	w.seen = map[string]string{}
	w.look()
	if _, err := w.cluster.Apply(w.t.Context(), &unstructured.Unstructured{Object: object}); err != nil {
		w.t.Fatal(err)
	}
	delete(w.seen, "Revision") // the state of the one before
	w.look()
	w.cluster.config.PullBackOff = time.Hour
	w.settle()
	w.cluster.config.PullBackOff = 0
	w.settle()
}

func (w *watcher) settle() {
	w.t.Helper()
	for version := int64(-1); version != w.cluster.version; {
		version = w.cluster.version
		for range 3 { // the ingress moves without a version, and what is tracked comes a step later
			w.cluster.step(w.t.Context())
			w.look()
		}
	}
}

// look notes what changed since the last look.
func (w *watcher) look() {
	k := key{"production", "web"}
	service := w.cluster.objects.services[k]
	if service == nil {
		return
	}
	w.note("Service", fmt.Sprintf("%s created=%s ready=%s %s", generations(service), service.Status.LatestCreatedRevisionName,
		service.Status.LatestReadyRevisionName, targets(service.Status.Traffic)), service.Status.Conditions)
	if configuration := w.cluster.objects.configurations[k]; configuration != nil {
		w.note("Configuration", fmt.Sprintf("%s created=%s ready=%s", generations(configuration),
			configuration.Status.LatestCreatedRevisionName, configuration.Status.LatestReadyRevisionName), configuration.Status.Conditions)
	}
	if route := w.cluster.objects.routes[k]; route != nil {
		w.note("Route", generations(route)+" "+targets(route.Status.Traffic), route.Status.Conditions)
	}
	named := cmp.Or(service.Spec.Template.Name, "web-00001")
	if revision := w.cluster.objects.revisions[key{"production", named}]; revision != nil {
		w.note("Revision", generations(revision), revision.Status.Conditions)
	}
}

func (w *watcher) note(kind, summary string, conditions duckv1.Conditions) {
	text := summary + "\n"
	for _, c := range conditions {
		if c.Type == servingv1.RevisionConditionActive {
			continue // no data plane was there to make it True
		}
		text += strings.TrimRight(fmt.Sprintf("  %s=%s %s %s", c.Type, c.Status, c.Reason, c.Message), " ") + "\n"
	}
	if !strings.HasSuffix(w.seen[kind], text) {
		w.seen[kind] += text
	}
}

func generations(resource duckv1.KRShaped) string {
	return fmt.Sprintf("generation=%d/%d", resource.GetStatus().ObservedGeneration, resource.GetGeneration())
}

func targets(traffic []servingv1.TrafficTarget) string {
	var all []string
	for _, target := range traffic {
		all = append(all, strings.TrimSuffix(fmt.Sprintf("%s:%d:%s", target.RevisionName, *target.Percent, target.Tag), ":"))
	}
	return "traffic=" + strings.Join(all, ",")
}
