package source

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/fake/promotetest"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

const stagingOverlay = "apps/product-import/overlays/staging"

// noon is when the source of the tests had passed its last gates.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// goodSource is an environment that may be promoted from: v2 has all traffic, has
// passed, and is live since noon.
func goodSource(t *testing.T) Observed {
	t.Helper()
	state, err := knative.Read(t.Context(), os.DirFS("../../testdata/infra"), stagingOverlay, "product-import")
	if err != nil {
		t.Fatal(err)
	}
	next := promotetest.SetTag(t, state, "v2.0.0")
	to := promotetest.RevisionOf(t, next)
	traffic := knative.Split{Stable: to}.Targets("candidate", true)
	if next, err = next.Route(t.Context(), to, traffic, nil, nil); err != nil {
		t.Fatal(err)
	}
	target := ours()
	target.Overlay = stagingOverlay
	return Observed{
		Situation: plan.Situation{Target: target, Tag: "candidate", Now: next, Record: record.Record{
			Promotion: "3f9c2d1e8a71", Overlay: stagingOverlay, Step: "100", Percent: 100, Passed: noon, Commit: "74e5219b3179dd83185b313e8da45aa39506eafd",
			To: record.VersionOf(to, next), From: record.Version{Revision: "product-import-00001"},
		}},
		apps:   []appSeen{{argo.App{Name: "staging"}, argo.Verdict{State: argo.Live}, argo.Observed{Service: readySince(noon), Revision: running("sha256:" + zeros)}}},
		states: map[string]string{"e2e": "success", "lint": "failure"},
	}
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// readySince is a live Service that became ready then.
func readySince(at time.Time) *servingv1.Service {
	ready := apis.Condition{Type: apis.ConditionReady, Status: corev1.ConditionTrue, LastTransitionTime: apis.VolatileTime{Inner: metav1.NewTime(at)}}
	return &servingv1.Service{Status: servingv1.ServiceStatus{Status: duckv1.Status{Conditions: duckv1.Conditions{ready}}}}
}

// running is a live Revision whose one container runs a digest.
func running(digest string) *servingv1.Revision {
	r := &servingv1.Revision{}
	r.Spec.Containers = []corev1.Container{{Name: "user-container"}}
	r.Status.ContainerStatuses = []servingv1.ContainerStatus{{Name: "user-container", ImageDigest: "ghcr.io/acme/product-import@" + digest}}
	return r
}

func TestSourceMissing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(t *testing.T, s *Observed)
		want   string
	}{
		"good": {func(*testing.T, *Observed) {}, ""},
		"a record of another overlay": {func(_ *testing.T, s *Observed) { s.Record.Overlay = promotetest.Production },
			"nothing was promoted there yet, so no record says that its gates have passed"},
		"unreadable": {func(_ *testing.T, s *Observed) { s.Unreadable = fmt.Errorf("its end is missing") },
			"its record cannot be read: its end is missing"},
		"under way": {func(_ *testing.T, s *Observed) { s.Record.Step, s.Record.Percent = "10", 10 },
			"a promotion is under way there, REVISION has 10 % of the traffic"},
		"not passed": {func(_ *testing.T, s *Observed) { s.Record.Passed = time.Time{} },
			"the last gates of REVISION have not passed yet"},
		"restored": {func(_ *testing.T, s *Observed) { s.Record.Step, s.Record.Percent = record.Restore, 0 },
			"its last promotion was rolled back, to product-import-00001"},
		"rolled back": {func(_ *testing.T, s *Observed) { s.Record.Step = record.Rollback },
			"its last promotion was rolled back, to REVISION"},
		"changed since": {func(t *testing.T, s *Observed) { s.Now = promotetest.SetTag(t, s.Now, "v2.1.0") },
			"its template was changed since REVISION was promoted"},
		"traffic changed": {func(t *testing.T, s *Observed) { s.Now = routed(t, s.Now, "product-import-00001") },
			"somebody has changed its traffic: the record says that REVISION has all traffic"},
		"no Application": {func(_ *testing.T, s *Observed) { s.apps = nil },
			"no Application that the token sees deploys it"},
		"not live": {func(_ *testing.T, s *Observed) {
			s.apps = append(s.apps, appSeen{argo.App{Name: "staging-eu"}, argo.Verdict{State: argo.Wait, Reason: "not synced"}, argo.Observed{}})
		}, "application staging-eu does not show it live: not synced"},
		"a tag that was pushed again": {func(_ *testing.T, s *Observed) {
			other := s.apps[0]
			other.seen.Revision = running("sha256:1" + zeros[1:])
			s.apps = append(s.apps, other)
		}, "its Applications run different images under the same tag"},
		"no status": {func(_ *testing.T, s *Observed) { delete(s.states, "e2e") },
			"commit 74e5219b31 has no status e2e"},
		"no commit": {func(_ *testing.T, s *Observed) { s.Record.Commit = "" },
			"its record does not name the commit whose statuses checks asks for; the next promotion there writes it"},
		"a status that failed": {func(_ *testing.T, s *Observed) { s.states = map[string]string{"e2e": "failure"} },
			"the status e2e of commit 74e5219b31 is failure"},
		"soak": {func(_ *testing.T, s *Observed) { s.Record.Passed = noon.Add(time.Second) },
			"it is good since 2026-11-22T12:00:01Z, and soak wants 1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := goodSource(t)
			to := s.Record.To.Revision
			test.change(t, &s)
			var c Wants
			c.Soak, c.Checks = time.Hour, []string{"e2e"}
			got := ""
			if missing := s.missing(c, noon.Add(time.Hour)); missing != nil {
				got = missing.Reason
			}
			if got != strings.ReplaceAll(test.want, "REVISION", to) {
				t.Errorf("missing %q, want %q", got, strings.ReplaceAll(test.want, "REVISION", to))
			}
		})
	}
}

func routed(t *testing.T, state *knative.State, revision string) *knative.State {
	t.Helper()
	after, err := state.Route(t.Context(), state.Revision(), knative.Split{Stable: revision}.Targets("candidate", true), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return after
}

// TestSoakNaively goes through random histories of an environment minute by
// minute, and compares.
func TestSoakNaively(t *testing.T) {
	t.Parallel()
	good := goodSource(t)
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 0))
		now, since, passed, ready := noon, noon, noon, noon
		for range 1 + random.IntN(600) {
			now = now.Add(time.Minute)
			before := now.Add(-time.Duration(random.IntN(300)) * time.Second)
			switch random.IntN(100) {
			case 0: // another version is promoted, which was ready before its last gates had passed
				since, passed, ready = now, now, before
			case 1: // a person's revert brings an earlier record back, and moves the traffic
				since, passed, ready = now, before, now
			}
		}
		one := good
		one.Record.Passed = passed
		one.apps = []appSeen{good.apps[0]}
		one.apps[0].seen.Service = readySince(ready)
		var c Wants
		c.Soak = time.Duration(1+random.IntN(600)) * time.Minute
		missing := one.missing(c, now)
		if enough := now.Sub(since) >= c.Soak; enough != (missing == nil) || missing != nil && !missing.Until.Equal(since.Add(c.Soak)) {
			t.Fatalf("seed %d: good since %s, soak %s, at %s: missing %v", seed, since, c.Soak, now, missing)
		}
	}
}

// TestImagesFrom has the images of a source under the target's own names.
func TestImagesFrom(t *testing.T) {
	t.Parallel()
	const digest = "sha256:" + zeros
	source := goodSource(t)
	mirrored, err := promotetest.Example(t).SetImages(t.Context(), []kustomize.Image{{Name: "ghcr.io/acme/product-import", NewName: "mirror.example.com/acme/product-import", NewTag: "v1.0.0"}})
	if err != nil {
		t.Fatal(err)
	}
	unresolved := source
	unresolved.apps = []appSeen{{seen: argo.Observed{Revision: running("")}}}
	for name, test := range map[string]struct {
		source Observed
		target *knative.State
		want   kustomize.Image
	}{
		"by the digest that runs": {source, promotetest.Example(t), kustomize.Image{Name: "ghcr.io/acme/product-import", NewTag: "v2.0.0", Digest: digest}},
		"of another registry":     {source, mirrored, kustomize.Image{Name: "mirror.example.com/acme/product-import", NewTag: "v2.0.0", Digest: digest}},
		"no digest is known":      {unresolved, promotetest.Example(t), kustomize.Image{Name: "ghcr.io/acme/product-import", NewTag: "v2.0.0"}},
	} {
		got, err := imagesFrom(test.source, test.target)
		if diff := cmp.Diff([]kustomize.Image{test.want}, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, images (-want +got):\n%s", name, err, diff)
		}
	}
	after, err := mirrored.SetImages(t.Context(), []kustomize.Image{{Name: "mirror.example.com/acme/product-import", NewTag: "v2.0.0", Digest: digest}})
	if err != nil || after.Images()[0] != "mirror.example.com/acme/product-import:v2.0.0@"+digest {
		t.Errorf("the target runs %v, error %v", after.Images(), err)
	}
}

// TestImagesFromUntagged has a source whose image nobody can name: Knative gives no
// digest, and the overlay no tag.
func TestImagesFromUntagged(t *testing.T) {
	t.Parallel()
	source := goodSource(t)
	source.Now = untagged(t)
	source.apps = []appSeen{{seen: argo.Observed{Revision: running("")}}}
	images, err := imagesFrom(source, promotetest.Example(t))
	const want = "from: apps/product-import/overlays/staging runs ghcr.io/acme/product-import in container 1, and Knative gives no digest: expected a tag or a digest there"
	if err == nil || err.Error() != want {
		t.Errorf("images %v, error %v, want %s", images, err, want)
	}
}

// TestImagesFromOtherContainers has targets with a container that the source has not, or of which nobody can
// tell which of its own it is.
func TestImagesFromOtherContainers(t *testing.T) {
	t.Parallel()
	for containers, want := range map[string]string{
		"{image: ghcr.io/acme/product-import}, {name: proxy, image: ghcr.io/acme/proxy}": "from: apps/product-import/overlays/staging has no container for the one of x that runs ghcr.io/acme/proxy: expected the same containers, by name",
		"{image: mirror/other}, {image: mirror/proxy}":                                   "from: containers of apps/product-import/overlays/staging and x: whether the container that runs mirror/other is the one that ran ghcr.io/acme/product-import:v2.0.0 cannot be told: expected the same containers, by name",
	} {
		_, err := imagesFrom(goodSource(t), ofContainers(t, containers))
		if err == nil || err.Error() != want {
			t.Errorf("error %v\nwant  %s", err, want)
		}
	}
}

// untagged is an overlay whose image has neither tag nor digest.
func untagged(t *testing.T) *knative.State {
	t.Helper()
	return ofContainers(t, "{image: ghcr.io/acme/product-import}")
}

// ofContainers is an overlay x with these containers.
func ofContainers(t *testing.T, containers string) *knative.State {
	t.Helper()
	state, err := knative.Read(t.Context(), fstest.MapFS{
		"x/kustomization.yaml": {Data: []byte("resources: [service.yaml]\n")},
		"x/service.yaml": {Data: []byte("apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: product-import}\n" +
			"spec: {template: {spec: {containers: [" + containers + "]}}}\n")},
	}, "x", "product-import")
	if err != nil {
		t.Fatal(err)
	}
	return state
}
