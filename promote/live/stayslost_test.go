package live

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
)

// recovering is an Argo CD whose revision is not Ready for a while.
type recovering struct {
	Cluster
	until time.Time
}

func (r recovering) Revision(context.Context, argo.App, string, string) (*servingv1.Revision, error) {
	found := &servingv1.Revision{}
	found.Status.InitializeConditions()
	if time.Now().Before(r.until) {
		found.GetConditionSet().Manage(&found.Status).MarkFalse(apis.ConditionReady, "ExitCode1", "failed")
	}
	return found, nil
}

// TestStaysLost bears with what passes, as the gates do, and not with what stays.
func TestStaysLost(t *testing.T) {
	t.Parallel()
	for lasts, want := range map[time.Duration]string{0: "", argo.Grace / 2: "", 2 * argo.Grace: "is not Ready (ExitCode1: failed)"} {
		synctest.Test(t, func(t *testing.T) {
			service := Service{Cluster: recovering{until: time.Now().Add(lasts)}}
			why, err := service.StaysLost(t.Context(), nil, "web-v2")
			if why != want || err != nil {
				t.Errorf("after %s: got %q, %v, want %q", lasts, why, err, want)
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			if _, err := (Service{Cluster: recovering{until: time.Now().Add(time.Hour)}}).StaysLost(ctx, nil, "web-v2"); err == nil {
				t.Error("no error of a context that has ended")
			}
		})
	}
}
