//go:build cluster

package scenario

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/fake/argotest"
)

var (
	sequences = flag.Int("sequences", 20, "how many random sequences of events TestKnativeAndModel compares")
	events    = flag.Int("events", 6, "how many events each of them has")
)

// TestKnativeAndModel applies random sequences of what people, promotions and
// clusters do to a Service to Knative and to the model that the other tests use.
// After each event both come to the same state: traffic, conditions, revisions, and
// who answers.
func TestKnativeAndModel(t *testing.T) {
	t.Parallel()
	for seed := range *sequences {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newTwins(t, seed).play(*events)
		})
	}
}

// twins are a Service in Knative and the same one in the model.
type twins struct {
	*testing.T
	sides   [2]side // Knative, the model
	random  *rand.Rand
	wanted  *servingv1.Service
	number  int      // of the newest revision
	named   []string // revisions that there have been
	down    string   // the revision that the last event must have taken down
	history []string
}

func newTwins(t *testing.T, seed int) *twins {
	t.Helper()
	server, err := argotest.Start(argotest.Config{Token: "token", ProgressDeadline: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	name := nameOf(fmt.Sprint("Twin ", seed))
	tw := &twins{T: t, random: rand.New(rand.NewPCG(uint64(seed), 23)), wanted: &servingv1.Service{}}
	tw.wanted.APIVersion, tw.wanted.Kind, tw.wanted.Name, tw.wanted.Namespace = "serving.knative.dev/v1", "Service", name, name
	tw.sides = [2]side{inKnative(t, name), inModel(t, server, name)}
	return tw
}

// play begins with a revision that has all traffic and goes on with random events.
func (tw *twins) play(events int) {
	tw.template("")
	tw.traffic(tw.target(tw.newest(), 100, ""))
	tw.apply("begin with " + tw.newest())
	for range events {
		tw.apply(tw.event())
	}
	tw.Logf("%s", strings.Join(tw.history, "\n"))
}

// event is something that happens. What it changes of the Service is still to be
// applied.
func (tw *twins) event() string {
	switch tw.random.IntN(8) {
	case 0, 1:
		return "a good image: " + tw.template("")
	case 2:
		tw.down = tw.template("-crash40") // ready for long enough that Knative sees that on a slow machine
		return "an image that crashes: " + tw.down
	case 3:
		tw.down = tw.template("-broken")
		return "an image that is not there: " + tw.down
	case 4:
		revision := tw.any()
		for _, s := range tw.sides {
			s.collect(tw.T, revision)
		}
		return "collect " + revision
	case 5:
		for _, s := range tw.sides {
			s.delete(tw.T)
		}
		return "delete the Service"
	case 6:
		tw.traffic(servingv1.TrafficTarget{LatestRevision: new(true), Percent: new(int64(100))})
		return "all traffic to the latest"
	}
	return tw.shift()
}

// shift splits the traffic between two revisions, and tags one of them, or a third.
func (tw *twins) shift() string {
	share := int64([]int{0, 50, 100}[tw.random.IntN(3)])
	one, other := tw.any(), tw.any()
	targets := []servingv1.TrafficTarget{tw.target(one, 100-share, ""), tw.target(other, share, "candidate")}
	if tw.random.IntN(2) == 0 {
		targets = append(targets, tw.target(tw.any(), 0, "previous"))
	}
	tw.traffic(targets...)
	return fmt.Sprintf("traffic %s", targetsOf(targets))
}

// template gives the Service a new revision whose image ends so.
func (tw *twins) template(behaviour string) string {
	tw.number++
	name := fmt.Sprintf("%s-v%d", tw.wanted.Name, tw.number)
	spec := fmt.Sprintf("{metadata: {name: %s, annotations: {autoscaling.knative.dev/min-scale: '1'}}, spec: {containers: [{image: 'ghcr.io/acme/app:v%d.0.0%s'}]}}",
		name, tw.number, behaviour)
	template := servingv1.RevisionTemplateSpec{}
	if err := yaml.Unmarshal([]byte(spec), &template); err != nil {
		tw.Fatal(err)
	}
	tw.wanted.Spec.Template = template
	tw.named = append(tw.named, name)
	return name
}

func (tw *twins) traffic(targets ...servingv1.TrafficTarget) { tw.wanted.Spec.Traffic = targets }

func (tw *twins) target(revision string, share int64, tag string) servingv1.TrafficTarget {
	return servingv1.TrafficTarget{RevisionName: revision, Percent: &share, Tag: tag, LatestRevision: new(false)}
}

func (tw *twins) newest() string { return tw.named[len(tw.named)-1] }
func (tw *twins) any() string    { return tw.named[tw.random.IntN(len(tw.named))] }

// looks is at how many in a row both sides are in the same state: at one alone, their
// controllers may not have seen the event yet.
const looks = 3

// apply applies the Service to both after an event, and waits until they are in the
// same state.
func (tw *twins) apply(event string) {
	tw.Helper()
	tw.history = append(tw.history, event)
	for _, s := range tw.sides {
		s.apply(tw.T, tw.wanted)
	}
	var states [2]string
	calm := 0
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		for i, s := range tw.sides {
			states[i] = s.state(tw.T, tw.named)
		}
		fell := tw.down == "" || strings.Contains(states[0], tw.down+": False")
		if calm++; !fell || states[0] != states[1] {
			calm = 0
		}
		if calm == looks {
			tw.down = ""
			return
		}
	}
	tw.Fatalf("%s\nthen the states (-Knative +model):\n%s", strings.Join(tw.history, "\n"), cmp.Diff(states[0], states[1]))
}

func targetsOf(targets []servingv1.TrafficTarget) string {
	var all []string
	for _, target := range targets {
		share := int64(0)
		if target.Percent != nil {
			share = *target.Percent
		}
		all = append(all, fmt.Sprintf("%s=%d:%s", target.RevisionName, share, target.Tag))
	}
	return strings.Join(all, " ")
}

// asManifest is a Service as it is applied.
func asManifest(t *testing.T, service *servingv1.Service) *unstructured.Unstructured {
	t.Helper()
	text, err := yaml.Marshal(service)
	manifest := map[string]any{}
	if err == nil {
		err = yaml.Unmarshal(text, &manifest)
	}
	if err != nil {
		t.Fatal(err)
	}
	delete(manifest, "status")
	delete(manifest["metadata"].(map[string]any), "creationTimestamp")
	return &unstructured.Unstructured{Object: manifest}
}
