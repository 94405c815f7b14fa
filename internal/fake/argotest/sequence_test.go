package argotest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
)

// A watch of an Application of a real Argo CD v2.14.21 showed these states after a push and a
// refresh, until the commit was applied: each with whether a refresh is pending, an operation is set,
// the sync status at the commit before or the new one, and the operation's phase. Whether the
// comparison that the live change triggers comes before the operation's end was different from run to
// run.
const (
	syncBegins = `
refresh - Synced@before Succeeded Healthy
refresh operation Synced@before - Healthy
- operation OutOfSync@new - Healthy
- operation OutOfSync@new Running Healthy
`
	comparedAfter = `- - OutOfSync@new Succeeded Healthy
- - Synced@new Succeeded Healthy
`
	comparedBefore = `- operation Synced@new Running Healthy
- - Synced@new Succeeded Healthy
`
)

func TestApplicationsStates(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	defer w.HoldKnative()() // the states of the health are cluster.TestSequences' matter
	stream, err := w.client.Watch(w.auth(), &application.ApplicationQuery{Name: ptr(app)})
	if err != nil {
		t.Fatal(err)
	}
	before, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	commit := w.infra.commit(change{
		tag: "v2.0.0", revision: second, defaults: true, traffic: generated + ":100 " + second + ":0:candidate",
	})
	w.refresh()
	got, last := "\n", describe(&before.Application, commit)
	for !strings.HasPrefix(last, "- - Synced@new Succeeded") {
		event, err := stream.Recv()
		if err != nil {
			t.Fatalf("%v after %s", err, got)
		}
		if state := describe(&event.Application, commit); state != last {
			got, last = got+state+"\n", state
		}
	}
	if got != syncBegins+comparedBefore {
		if diff := cmp.Diff(syncBegins+comparedAfter, got); diff != "" {
			t.Errorf("states of the Application (-real +model):\n%s", diff)
		}
	}
}

func describe(a *v1alpha1.Application, commit string) string {
	refresh, operation, at, phase := "-", "-", "before", "-"
	if _, pending := a.IsRefreshRequested(); pending {
		refresh = "refresh"
	}
	if a.Operation != nil {
		operation = "operation"
	}
	if a.Status.Sync.Revision == commit {
		at = "new"
	}
	if a.Status.OperationState != nil {
		phase = string(a.Status.OperationState.Phase)
	}
	return fmt.Sprintf("%s %s %s@%s %s %s", refresh, operation, a.Status.Sync.Status, at, phase, a.Status.Health.Status)
}
