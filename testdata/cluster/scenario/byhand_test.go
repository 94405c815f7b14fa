//go:build cluster

package scenario

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// TestRolledBackInArgoCD: somebody rolls back in Argo CD, so the cluster has another
// version than Git. No promotion gives users back to what they were taken from, and a
// rollback by name makes Git say who has the traffic.
func TestRolledBackInArgoCD(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	s.promote("v3.0.0", "steps=100").exits(0)
	s.patchApplication(`[{"op": "remove", "path": "/spec/syncPolicy/automated"}]`)
	was, holder := s.live().Status.Traffic[0].RevisionName, ""
	s.must(world.RollBack(t.Context(), s.App.GetName(), s.syncOf("v2.0.0")))
	s.eventually("another revision has the traffic", func() bool {
		holder = s.live().Status.Traffic[0].RevisionName
		return holder != was && s.ask(s.host()).tag() == "v2.0.0"
	})

	s.promote("v4.0.0", "steps=100").exits(13).says("knative-promote rollback --to " + holder)
	s.begin("rollback", "to="+holder).wait().exits(0)
	s.settled("v2.0.0")
	s.promote("v4.0.0", "steps=10,100").exits(0)
	s.settled("v4.0.0")
}

// TestAutoSyncSwitchedOff: somebody switches auto-sync off while a step bakes, so that nothing further comes to the cluster. The run
// commits nothing further, and one that begins so syncs by itself.
func TestAutoSyncSwitchedOff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := s.begin("promote", "image="+s.Image+":v2.0.0", "steps=20@10s,100")
	r.until("baking 20 %")
	tip := s.git("rev-parse", "main")
	s.patchApplication(`[{"op": "remove", "path": "/spec/syncPolicy/automated"}]`)
	r.wait().exits(9).says("somebody has switched auto-sync of application " + s.App.GetName() + " off since the run began")
	if now := s.git("rev-parse", "main"); now != tip {
		t.Errorf("%s was pushed after that", now)
	}
	s.stays("v2.0.0", 20)
	s.promote("v2.0.0", "steps=20,100").exits(0)
	s.settled("v2.0.0")
}

// TestRolledBackInArgoCDBeforePromotions: somebody rolls back in Argo CD what was deployed
// by hand, and Git names no revision yet. Nothing is promoted over that until Git says who
// has the traffic.
func TestRolledBackInArgoCDBeforePromotions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.lastSync()
	s.push("Deploy by hand", map[string]string{"./kustomization.yaml": replaced(t, s.read("./kustomization.yaml"), "v1.0.0", "v1.1.0")})
	s.refresh()
	s.eventually("the new version answers, and Argo CD has noted its sync", func() bool {
		return s.ask(s.host()).tag() == "v1.1.0" && s.lastSync().revision == s.git("rev-parse", "main")
	})
	var holder string
	s.patchApplication(`[{"op": "remove", "path": "/spec/syncPolicy/automated"}]`)
	s.must(world.RollBack(t.Context(), s.App.GetName(), first.id))
	s.eventually("the old version is synced, Ready, and answers again", func() bool {
		live := s.live()
		holder = live.Status.Traffic[0].RevisionName
		return s.lastSync().revision == first.revision && live.IsReady() && s.ask(s.host()).tag() == "v1.0.0"
	})

	s.promote("v1.1.0", "steps=100").exits(13).says("knative-promote rollback --to " + holder)
	s.promote("v1.2.0", "steps=100").exits(13)
	s.answersOnly("v1.0.0")
	s.begin("rollback", "to="+holder).wait().exits(0)
	s.settled("v1.0.0")
	s.promote("v1.2.0", "steps=10,100").exits(0)
	s.settled("v1.2.0")
}

// TestRolledBackInArgoCDInTheMiddle: somebody does so while a candidate bakes, with
// auto-sync switched off as Argo CD's pages do. The promotion follows, and neither it nor
// the next run after one that is killed has Argo CD sync the candidate again.
func TestRolledBackInArgoCDInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	before := s.git("rev-parse", "main")
	r := s.begin("promote", "image="+s.Image+":v3.0.0", "steps=50@10m,100")
	r.until("baking 50 %")
	s.patchApplication(`[{"op": "remove", "path": "/spec/syncPolicy/automated"}]`)
	s.must(world.RollBack(t.Context(), s.App.GetName(), s.syncOf("v2.0.0")))
	r.wait().exits(8)
	s.restored(before, "v2.0.0")

	r = s.begin("promote", "image="+s.Image+":v4.0.0", "steps=50@10m,100")
	r.until("baking 50 %")
	r.signal(syscall.SIGKILL)
	r.wait()
	s.must(world.RollBack(t.Context(), s.App.GetName(), s.syncOf("v2.0.0")))
	s.eventually("the old version has the traffic again", func() bool { return len(s.live().Status.Traffic) == 1 })
	s.promote("v4.0.0", "steps=50@10m,100").exits(13).says("knative-promote rollback --to ")
	s.answersOnly("v2.0.0")
	s.begin("rollback", "to="+s.live().Status.Traffic[0].RevisionName).wait().exits(0)
	s.settled("v2.0.0")
}

// TestRolledBackBesideInArgoCD: somebody rolls back in Argo CD what another commit has
// changed beside the Service. A rollback of the Service syncs that alone, and no promotion
// begins whose sync would bring the other change back.
func TestRolledBackBesideInArgoCD(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	s.promote("v3.0.0", "steps=50").exits(0)
	flags := func(level string) {
		s.push("Set the level to "+level, map[string]string{"./flags.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: flags}\ndata: {level: \"" + level + "\"}\n"})
	}
	level := func() string {
		object, err := kube.Resource(configMaps).Namespace(s.Namespace).Get(s.Context(), "flags", metav1.GetOptions{})
		if err != nil {
			return ""
		}
		text, _, _ := unstructured.NestedString(object.Object, "data", "level")
		return text
	}
	s.push("Read flags", map[string]string{"./kustomization.yaml": replaced(t, s.read("./kustomization.yaml"), "- ../../base", "- ../../base\n  - flags.yaml"),
		"./flags.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: flags}\ndata: {level: \"1\"}\n"})
	s.refresh()
	s.eventually("the first level is there", func() bool { return level() == "1" && s.lastSync().revision == s.git("rev-parse", "main") })
	before := s.lastSync()
	flags("2")
	s.refresh()
	s.eventually("the second level is there, and so is its sync", func() bool { return level() == "2" && s.lastSync().revision == s.git("rev-parse", "main") })
	s.patchApplication(`[{"op": "remove", "path": "/spec/syncPolicy/automated"}]`)
	s.must(world.RollBack(t.Context(), s.App.GetName(), before.id))
	s.eventually("the first level is there again", func() bool { return level() == "1" })

	s.begin("rollback").wait().exits(0)
	s.answersOnly("v2.0.0")
	s.promote("v4.0.0", "steps=100").exits(1).says("somebody has rolled ConfigMap/" + s.Namespace + "/flags back in Argo CD")
	if level() != "1" {
		t.Errorf("the level is %q, which somebody has rolled back to 1", level())
	}
	flags("3")
	s.promote("v4.0.0", "steps=100").exits(0)
	s.settled("v4.0.0")
	if level() != "3" {
		t.Errorf("the level is %q, and Git says 3", level())
	}
}

// TestMovedByKubectlWithoutSelfHeal: Argo CD syncs by itself and heals nothing, and somebody has
// given the traffic back to an older version with kubectl. It stays there until Argo CD next
// looks at Git, and no run has it look, or commits over that, before Git says where it is to be.
func TestMovedByKubectlWithoutSelfHeal(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(l *layout) { l.policy("automated", map[string]any{"prune": true}) })
	s.promote("v2.0.0", "steps=100").exits(0)
	old := s.live().Spec.Template.Name
	s.promote("v3.0.0", "steps=100").exits(0)
	s.promote("v3.1.0", "steps=100").exits(0)
	s.patchService(fmt.Sprintf(`{"spec":{"traffic":[{"revisionName":%q,"percent":100,"latestRevision":false}]}}`, old))
	s.eventually("the older version answers, and Argo CD has noticed", func() bool {
		status, _ := s.syncedAndHealthy()
		return s.ask(s.host()).tag() == "v2.0.0" && status == "OutOfSync"
	})

	s.promote("v4.0.0", "steps=10@10s,100").exits(13).says("knative-promote rollback --to " + old)
	s.answersOnly("v2.0.0")
	s.begin("rollback").wait().exits(3).says("knative-promote rollback --to " + old)
	s.answersOnly("v2.0.0")
	s.begin("rollback", "to="+old).wait().exits(0)
	s.settled("v2.0.0")
	s.promote("v4.0.0", "steps=10,100").exits(0)
	s.settled("v4.0.0")
}

// A syncing is an entry of an Application's history.
type syncing struct {
	id       int64
	revision string
}

// lastSync is the newest one.
func (s *site) lastSync() syncing {
	s.Helper()
	history, _, _ := unstructured.NestedSlice(s.application().Object, "status", "history")
	if len(history) == 0 {
		s.Fatal("the Application has no history")
	}
	newest := history[len(history)-1].(map[string]any)
	return syncing{newest["id"].(int64), newest["revision"].(string)}
}

// syncOf is the number of the last sync in the Application's history whose commit gave
// all traffic to the image with this tag.
func (s *site) syncOf(tag string) (id int64) {
	s.Helper()
	history, _, _ := unstructured.NestedSlice(s.application().Object, "status", "history")
	id = -1
	for _, entry := range history {
		entry := entry.(map[string]any)
		subject := s.git("log", "-1", "--format=%s", entry["revision"].(string))
		if strings.Contains(subject, ": 100 % to ") && strings.HasSuffix(subject, "("+tag+")") {
			id = entry["id"].(int64)
		}
	}
	if id < 0 {
		s.Fatalf("no sync gave all traffic to %s: %v", tag, history)
	}
	return id
}

// TestBlueGreenByHand goes on from a candidate that people made by hand, as a public
// guide writes it.
func TestBlueGreenByHand(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(l *layout) { l.set(l.base(), byHand(l.Service, "v1", "")) })
	s.push("The second version, by hand", map[string]string{
		baseOf(s.Service):      byHand(s.Service, "v2", "    - {revisionName: "+s.Service+"-v2, percent: 0, tag: candidate}\n"),
		"./kustomization.yaml": replaced(t, s.read("./kustomization.yaml"), "v1.0.0", "v2.0.0"),
	})
	s.refresh()
	s.eventually("the candidate answers under its tag", func() bool { return s.ask(s.candidateHost()).tag() == "v2.0.0" })
	s.answersOnly("v1.0.0")
	s.promote("v2.0.0", "steps=10,100").exits(0)
	s.settled("v2.0.0")
	s.begin("rollback").wait().exits(0)
	s.settled("v1.0.0")
}

// byHand is a Service whose revisions people name.
func byHand(service, version, more string) string {
	return "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: " + service + "\nspec:\n  template:\n    metadata:\n      name: " +
		service + "-" + version + "\n    spec:\n      containers:\n        - image: ghcr.io/acme/app\n  traffic:\n    - {revisionName: " +
		service + "-v1, percent: 100}\n" + more
}

// TestOverlayOfTwoApplications: two Applications deploy one overlay. A promotion sees
// one of them, so it begins only where that is said.
func TestOverlayOfTwoApplications(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(l *layout) {
		file := l.Overlay + "/kustomization.yaml"
		text := replaced(t, string(l.Files[file].Data), "namespace: "+l.Service+"\n", "")
		l.set(file, replaced(t, text, "patches:\n", "patches:\n  - target: {kind: Service}\n    patch: |\n      - {op: add, path: /spec/template/metadata/name, value: "+l.Service+"-first}\n"))
	})
	other := *s
	other.Namespace = s.Service + "-b"
	other.App = plane.Application(other.Namespace, s.URL, s.Overlay, other.Namespace)
	s.must(kube.Deploy(s.Context(), other.App))
	t.Cleanup(other.leave)
	s.promote("v2.0.0", "steps=100").exits(13).says(other.Namespace)
	s.answersOnly("v1.0.0")
	s.promote("v2.0.0", "steps=100", "only-this-application=true").exits(0)
	s.settled("v2.0.0")
	other.refresh()
	other.eventually("the other Application has it too", func() bool { return other.ask(other.host()).tag() == "v2.0.0" })
}
