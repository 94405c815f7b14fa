package argotest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGoodCommitGoesLive(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	first := w.settled(w.infra.git("rev-parse", "HEAD"))
	if got := first.Status.LatestReadyRevisionName; got != service+"-00001" {
		t.Errorf("the first revision is %q, want the generated name %s-00001", got, service)
	}
	split := service + "-00001:90 " + service + "-aaaa:10:candidate"
	commit := w.infra.commit(change{tag: "v2.0.0", revision: service + "-aaaa", defaults: true, traffic: split})
	live := w.settled(commit)
	if diff := cmp.Diff(split, traffic(w.Traffic("production", service))); diff != "" {
		t.Errorf("data path (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(split, traffic(live.Status.Traffic)); diff != "" {
		t.Errorf("status.traffic (-want +got):\n%s", diff)
	}
	if got, want := live.Status.Traffic[1].URL.String(), "http://candidate-"+service+".production.example.test"; got != want {
		t.Errorf("the candidate's URL is %s, want %s", got, want)
	}
}
