package moved

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/live"
)

// away is an Argo CD that does not answer for a while, or answers with an error.
type away struct {
	live.Cluster
	until time.Time
	err   error
}

func (a away) Live(context.Context, argo.Target) (argo.Observed, error) {
	if time.Now().Before(a.until) {
		return argo.Observed{}, fmt.Errorf("reading the application: %w", argo.ErrUnreachable)
	}
	return argo.Observed{App: &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{SyncPolicy: &v1alpha1.SyncPolicy{Automated: &v1alpha1.SyncPolicyAutomated{}}}}}, a.err
}

// TestAutomatedWhileArgoCDIsAway asks an Argo CD that is back after a while, in time and too late, and one that refuses.
func TestAutomatedWhileArgoCDIsAway(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		away time.Duration
		err  error
		want error
		took time.Duration // at most
	}{
		"there":    {0, nil, nil, 0},
		"restarts": {40 * time.Second, nil, nil, 42 * time.Second},
		"is gone":  {time.Hour, nil, argo.ErrUnreachable, time.Minute},
		"refuses":  {0, argo.ErrAuth, argo.ErrAuth, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := Reader{Service: live.Service{Cluster: away{until: began.Add(test.away), err: test.err}}}.Automated(t.Context(), true, time.Minute)
				if !errors.Is(err, test.want) || test.want == nil && err != nil || time.Since(began) > test.took {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
				if err != nil && !strings.HasPrefix(err.Error(), "asking whether Argo CD still syncs: ") {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
