package argo

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// TestAwaitRendersAnew asks for a hard refresh, once for each commit, where Argo CD calls a Service
// Synced that is not as the commit says: it may have rendered an older one.
func TestAwaitRendersAnew(t *testing.T) {
	in, stale := scene(t, "recorded-ignored-traffic")
	synctest.Test(t, func(t *testing.T) {
		p := &play{scene: func(time.Duration, *play) (Observed, error) { return stale, nil }}
		last, _, err := await(in, p, time.Minute, nil)
		if want := []v1alpha1.RefreshType{v1alpha1.RefreshTypeNormal, v1alpha1.RefreshTypeHard}; err == nil || !slices.Equal(p.kinds, want) {
			t.Fatalf("refreshed as %q, ended with %v, %v", p.kinds, last, err)
		}
		if at := p.refreshs[1]; at < outdatedAfter || at > outdatedAfter+lastPause {
			t.Errorf("asked to render anew after %s", at)
		}
	})
}
