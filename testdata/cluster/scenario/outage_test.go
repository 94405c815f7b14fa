//go:build cluster

package scenario

import (
	"testing"
	"time"
)

// Argo CD's API server, its application controller and the Git server are each
// away for 20 seconds, one after the other, while three promotions are at
// different steps: what was asked is asked again, and all three end promoted.
// It runs alone, since every scenario needs these parts.
func TestOutages(t *testing.T) {
	sites := []*site{newSite(t)}
	for n := range 2 {
		sites = append(sites, sites[0].neighbour(n+1))
	}
	var runs []*run
	for i, steps := range []string{"10@15s,50@15s,100", "5@5s,20@20s,60@20s,100", "1@1s,2@1s,50@50s,100"} {
		s := sites[i]
		before := s.ours()
		runs = append(runs, s.begin("promote", "image="+s.Image+":v2.0.0", "steps="+steps, "wait-timeout=3m"))
		s.eventually("it has begun", func() bool { return s.ours() > before })
	}
	for _, part := range []string{"argocd-server", "argocd-application-controller", "git"} {
		away(t, part, 40*time.Second)
	}
	for i, s := range sites {
		runs[i].wait().exits(0)
		s.settled("v2.0.0")
	}
}

// away stops a part of the control plane for a while.
func away(t *testing.T, part string, duration time.Duration) {
	t.Helper()
	if err := world.Stop(part); err != nil {
		t.Fatal(err)
	}
	time.Sleep(duration)
	if err := world.Start(part); err != nil {
		t.Fatal(err)
	}
}

// With a token that is revoked in the middle nothing can be seen any more, and
// what cannot be seen is not good: Git has the rollback, and the run
// says that a person must look.
func TestTokenRevoked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	good := s.git("rev-parse", "main")
	token, err := world.Token(s.Context(), "ci", 0)
	s.must(err)
	r := s.begin("promote", "image="+s.Image+":v3.0.0", "steps=10@60s,100", "ARGOCD_AUTH_TOKEN="+token)
	s.eventually("10 % are live", func() bool { return s.liveAt(10) })
	s.must(world.Revoke(s.Context(), "ci", token))
	r.wait().exits(10).says("Argo CD")
	s.eventually("the candidate is gone", func() bool {
		s.refresh() // nobody else does: the program may not ask any more
		live := s.live()
		return !s.liveAt(10) && live.IsReady() && live.Status.ObservedGeneration == live.Generation
	})
	s.restored(good, "v2.0.0")
	s.promote("v3.0.0", "steps=10,100").exits(0)
	s.settled("v3.0.0")
}

// A token that ends before the promotion does is as good as a revoked one then.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token, err := world.Token(s.Context(), "ci", time.Minute)
	s.must(err)
	inputs := []string{"steps=50@60s,100", "ARGOCD_AUTH_TOKEN=" + token}
	s.finds("token-expires", inputs...)
	s.promote("v2.0.0", append(inputs, "preflight=off")...).exits(10).says("expired")
	s.findsNot("token-expires", "steps=50@60s,100")
	s.promote("v3.0.0", "steps=100").exits(0)
	s.settled("v3.0.0")
}

// TestNeighbourRefused has another Service of the overlay that Knative refuses, so that every
// sync fails. The Service is applied by it all the same, and so is what rolls it back.
func TestNeighbourRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	s.patchApplication(`[{"op": "add", "path": "/spec/syncPolicy/retry", "value": {"limit": 1, "backoff": {"duration": "1s"}}}]`)
	s.push("Add the cart", map[string]string{
		"./kustomization.yaml": replaced(t, s.read("./kustomization.yaml"), "- ../../base", "- ../../base\n  - cart.yaml"),
		"./cart.yaml":          "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: cart}\nspec: {template: {spec: {containers: [{image: 'ghcr.io/<YOUR USER>/cart:v1'}]}}}\n",
	})
	s.begin("rollback").wait().exits(0)
	s.answersOnly("v1.0.0")
	s.promote("v3.0.0", "steps=50,100").exits(0)
	s.answersOnly("v3.0.0")
}
