package promote

import (
	"testing"

	"github.com/acme/knative-promote/argo"
)

func TestBranchOf(t *testing.T) {
	t.Parallel()
	for overlay, want := range map[string]string{
		"apps/web/overlays/eu-1": "web/apps/web/overlays/eu-1",
		"apps/web/overlays/eu.1": "web/apps/web/overlays/eu-1-d37188ac",
		"apps/web/overlays/eü 1": "web/apps/web/overlays/e--1-dfdb7753",
		"a..b/.git/x.lock":       "web/a--b/-git/x-lock-515496b5",
	} {
		if got := branchOf(Target{Target: argo.Target{Service: "web"}, Overlay: overlay}); got != want {
			t.Errorf("%s: branch %s, want %s", overlay, got, want)
		}
	}
}
