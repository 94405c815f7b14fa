//go:build cluster

package scenario

import (
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A cluster that is built anew in the middle of a promotion has the revision
// that the template in Git describes, and not the one before it, which gets
// the most of the traffic. That is not healthy, so Git has the rollback, and
// the old template makes the old revision again under its name.
func TestClusterRebuilt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := s.quarter()
	s.rebuild()
	r.wait().exits(8)
	s.settled("v2.0.0")
	s.promote("v4.0.0", "steps=10,100").exits(0)
	s.settled("v4.0.0")
}

// The same when nobody promotes any more: one rollback brings the Service back.
func TestClusterRebuiltAfterwards(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := s.quarter()
	r.signal(syscall.SIGKILL)
	r.wait()
	s.rebuild()
	s.begin("rollback").wait().exits(0)
	s.settled("v2.0.0")
}

// quarter is a promotion that has 25 % of the traffic on the candidate.
func (s *site) quarter() *run {
	s.promote("v2.0.0", "steps=100").exits(0)
	r := s.begin("promote", "image="+s.Image+":v3.0.0", "steps=25@3m,100")
	s.eventually("25 % are live", func() bool { return s.liveAt(25) })
	return r
}

// rebuild has the cluster lose the Service with all its revisions, and waits
// until Argo CD has made it from Git.
func (s *site) rebuild() {
	lost, background := s.live().UID, metav1.DeletePropagationBackground
	service := kube.Resource(services).Namespace(s.Namespace)
	s.must(service.Delete(s.Context(), s.Service, metav1.DeleteOptions{PropagationPolicy: &background}))
	s.eventually("the Service is made anew", func() bool {
		all, err := service.List(s.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + s.Service})
		s.must(err)
		return len(all.Items) == 1 && all.Items[0].GetUID() != lost
	})
}
