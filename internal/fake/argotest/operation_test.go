package argotest

import (
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

// TestOperationBegunBefore begins an operation before anybody looks for one, as the
// first automated sync on a busy machine.
func TestOperationBegunBefore(t *testing.T) {
	t.Parallel()
	clock := cluster.NewClock(1)
	config := Config{}.withDefaults()
	app := newStored(App{Name: "web"}, &versions{}, clock)
	c := newController(app, newProjects(config), config, cluster.New(config.cluster(clock)), clock)
	if _, err := app.setOperation(&v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}); err != nil {
		t.Fatal(err)
	}
	events, stop := app.watch()
	defer stop()
	go c.operate(t.Context())
	select {
	case seen := <-events:
		if seen.Status.OperationState == nil {
			t.Error("the operation was changed and not begun")
		}
	case <-t.Context().Done():
	}
}
