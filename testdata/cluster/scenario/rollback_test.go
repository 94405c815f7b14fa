//go:build cluster

package scenario

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

func TestRollbackAfterSuccess(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	second := s.git("rev-parse", "main")
	s.promote("v3.0.0", "steps=100").exits(0)
	before := len(s.commits())

	s.begin("rollback", "reason=errors at the checkout").wait().exits(0)
	s.settled("v2.0.0")
	if made := s.commits()[before:]; len(made) != 1 {
		t.Errorf("commits %q, want one", made)
	}

	// A second rollback has nowhere further to go: the first one is not reverted by it.
	s.begin("rollback", "to="+second).wait().exits(0)
	s.settled("v2.0.0")
}

// A promotion is aborted by promoting what has the traffic, which takes users from the candidate
// as a rollback does: one after it leads no further, and to the promotion before where that is
// named.
func TestRollbackAfterAbort(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.live().Status.LatestReadyRevisionName
	s.promote("v2.0.0", "steps=100").exits(0)
	s.promote("v3.0.0", "steps=10").exits(0)
	s.promote("v2.0.0", "steps=100").exits(0)
	s.begin("rollback").wait().exits(0)
	s.settled("v2.0.0")
	s.begin("rollback", "to="+first).wait().exits(0)
	s.settled("v1.0.0")
}

// Somebody with a commit of their own pulls and pushes, as everybody does: our
// commits are behind the second parent of that merge.
func TestRollbackAfterMerge(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	person := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		_, err := gittest.Git(person, nil, append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
		s.must(err)
	}
	git("clone", "--quiet", s.Dir, ".")
	git("commit", "--quiet", "--allow-empty", "-m", "Work of somebody")
	s.promote("v2.0.0", "steps=100").exits(0)
	s.promote("v3.0.0", "steps=100").exits(0)
	git("pull", "--quiet", "--no-rebase", "--no-edit")
	git("push", "--quiet", "origin", "HEAD:main")
	s.begin("rollback").wait().exits(0)
	s.settled("v2.0.0")
}

func TestRollbackInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	before := s.git("rev-parse", "main")
	r := s.begin("promote", "image="+s.Image+":v3.0.0", "steps=10@60s,100")
	s.eventually("10 % are committed", func() bool { return len(s.commits()) == 4 })
	s.eventually("the candidate answers", func() bool { return s.ask(s.candidateHost()).Image == s.Image+":v3.0.0" })

	s.begin("rollback").wait().exits(0)
	s.restored(before, "v2.0.0")
	r.wait().exits(6)
	s.restored(before, "v2.0.0")
}

func TestRollbackToRevision(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	first := s.live().Spec.Template.Name
	s.promote("v3.0.0", "steps=100").exits(0)
	s.promote("v4.0.0", "steps=100").exits(0)
	s.begin("rollback", "to="+first).wait().exits(0)
	s.settled("v2.0.0")
}

func TestRollbackToDeletedRevision(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	first := s.live().Spec.Template.Name
	s.promote("v3.0.0", "steps=100").exits(0)
	s.promote("v4.0.0", "steps=100").exits(0)
	s.must(kube.Resource(revisions).Namespace(s.Namespace).Delete(s.Context(), first, metav1.DeleteOptions{}))
	s.begin("rollback", "to="+first).wait().exits(0)
	s.settled("v2.0.0")
}

// What a person has changed in the base since stays; the image, the revision
// and the traffic are restored.
func TestRollbackWithChangedBase(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	s.promote("v3.0.0", "steps=100").exits(0)
	file := "apps/" + s.Service + "/base/kustomization.yaml"
	changed := s.read(file) + "labels:\n  - pairs: {team: checkout}\n"
	s.push("Label the Service", map[string]string{file: changed})
	s.refresh()
	s.eventually("the label is live", func() bool { return s.live().Labels["team"] == "checkout" })

	s.begin("rollback").wait().exits(0)
	s.settled("v2.0.0")
	if s.read(file) != changed || s.live().Labels["team"] != "checkout" {
		t.Error("the rollback took the change of the base back")
	}
}

func TestRollbackWithChangedTemplate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	file := baseOf(s.Service)
	changed := replaced(t, s.read(file), "memory: 512Mi", "memory: 256Mi")
	s.push("Use less memory", map[string]string{file: changed})
	s.promote("v3.0.0", "steps=100").exits(0)

	s.begin("rollback").wait().exits(0)
	s.settled("v2.0.0")
	if s.read(file) != changed {
		t.Error("the rollback took the change of the base back")
	}
}

// TestRollbackBesideASidecar: a container came with the promotion, and another change of the
// template after it, which Knative refuses under the same name. The images of before do not
// fit the template, so the traffic alone goes to the revision from before, and the template
// gets a name that Knative takes.
func TestRollbackBesideASidecar(t *testing.T) {
	t.Parallel()
	s := newSite(t, service(plain))
	s.promote("v2.0.0", "steps=100").exits(0)
	before := s.live().Spec.Template.Name
	base, scale := baseOf(s.Service), s.Overlay+"/patches/scale.yaml"
	head := "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: " + s.Service + "\nspec:\n"
	s.push("Add a container", map[string]string{base: head + twoContainers})
	s.promote("v3.0.0", "steps=100").exits(0)
	s.push("Scale to three", map[string]string{scale: head + "  template:\n    metadata:\n      annotations:\n        autoscaling.knative.dev/max-scale: \"3\"\n"})

	s.begin("rollback").wait().exits(0)
	if a := s.ask(s.host()); a.Revision != before {
		t.Errorf("revision %s answers, want %s", a.Revision, before)
	}
	s.promote("v4.0.0", "steps=50,100").exits(0)
	s.settled("v4.0.0")
}
