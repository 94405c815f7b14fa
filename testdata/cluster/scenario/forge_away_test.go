//go:build cluster

package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/testdata/cluster/forge"
	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// TestForgeAway ends a forge of its own for ten seconds while a promotion is at
// its first step, and another one before it has to be rolled back: what was
// asked is asked again. Not while git writes for a push: what is ended then
// leaves a lock behind, with which the repository takes no push any more.
func TestForgeAway(t *testing.T) {
	t.Parallel()
	o, err := plane.Gitea(t.Context(), plane.Options{Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	o.Dir = filepath.Join(t.TempDir(), "gitea")
	f, err := forge.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Addr = strings.TrimPrefix(f.URL, "http://")
	t.Cleanup(func() { f.Stop() })
	if err := plane.AdmitArgoCD(t.Context(), kube, f); err != nil {
		t.Fatal(err)
	}
	s := newSiteOn(t, f)
	away := func() {
		f.Stop()
		time.Sleep(10 * time.Second)
		f, err = forge.Start(t.Context(), o)
		s.must(err)
	}
	r := s.begins("promote", "image="+s.Image+":v2.0.0", "steps=10,100", "wait-timeout=3m")
	r.until("\ncommit ")
	away()
	r.wait().exits(0)
	s.settled("v2.0.0")

	good := s.git("rev-parse", "main")
	r = s.begins("promote", "image="+s.Image+":v3.0.0-broken", "steps=10,100", "wait-timeout=3m")
	r.until("\ncommit ")
	away()
	r.wait().exits(8)
	s.restored(good, "v2.0.0")
}
