package argotest_test

import (
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/health"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/fake/argotest"
)

const (
	generated = service + "-00001"
	second    = service + "-aaaa"
	third     = service + "-bbbb"
)

func TestGoodCommitGoesLive(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	first := w.settled(w.infra.head())
	if got := first.Status.LatestReadyRevisionName; got != generated {
		t.Errorf("the first revision is %q, want the generated name %s", got, generated)
	}
	split := generated + ":90 " + second + ":10:candidate"
	commit := w.infra.commit(change{tag: "v2.0.0", revision: second, defaults: true, traffic: split})
	live := w.settled(commit)
	if diff := cmp.Diff(split, w.routing()); diff != "" {
		t.Errorf("data path (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(split, traffic(live.Status.Traffic)); diff != "" {
		t.Errorf("status.traffic (-want +got):\n%s", diff)
	}
	if got, want := live.Status.Traffic[1].URL.String(), "http://candidate-"+service+".production.example.test"; got != want {
		t.Errorf("the candidate's URL is %s, want %s", got, want)
	}
	if got, want := w.Revision("production", second).Status.ContainerStatuses[0].ImageDigest, "ghcr.io/acme/"+service+"@sha256:"; !strings.HasPrefix(got, want) {
		t.Errorf("the image's digest is %q, want one of %s", got, want)
	}
}

// naive is what `argocd app wait --sync --health --operation` waits for, with the commit added.
func naive(commit string) func(*v1alpha1.Application) bool {
	return func(a *v1alpha1.Application) bool {
		return a.Operation == nil && a.Status.Sync.Revision == commit &&
			a.Status.Sync.Status == v1alpha1.SyncStatusCodeSynced && a.Status.Health.Status == health.HealthStatusHealthy
	}
}

func TestHealthIsThatOfTheGenerationBefore(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	release := w.HoldKnative()
	commit := w.infra.commit(change{
		tag: "v2-broken", revision: second, defaults: true, traffic: generated + ":100 " + second + ":0:candidate",
	})
	w.refresh()
	w.until("the naive waiter to be content", naive(commit))
	if live := w.live(); live.Status.ObservedGeneration >= live.Generation {
		t.Fatalf("generation %d is observed already, so nothing was shown", live.Generation)
	}
	release()
	w.until("Progressing", healthIs(health.HealthStatusProgressing))
	w.until("Degraded", healthIs(health.HealthStatusDegraded))
	rev := w.Revision("production", second)
	if ready := rev.Status.GetCondition(servingv1.RevisionConditionReady); !ready.IsFalse() || ready.Reason != "ImagePullBackOff" {
		t.Errorf("the broken revision's Ready is %v, want False for ImagePullBackOff", ready)
	}
	if got, want := w.routing(), generated+":100"; got != want {
		t.Errorf("the data path is %q although a target is not ready, want the old routing %q", got, want)
	}
}

func healthIs(code health.HealthStatusCode) func(*v1alpha1.Application) bool {
	return func(a *v1alpha1.Application) bool { return a.Status.Health.Status == code }
}

func TestProgressDeadline(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *argotest.Config) { c.Speed = 200 })
	w.settled(w.infra.head())
	w.infra.commit(change{tag: "v2-broken", revision: second, defaults: true, traffic: generated + ":100"})
	w.refresh()
	w.until("ProgressDeadlineExceeded", func(*v1alpha1.Application) bool {
		rev := w.Revision("production", second)
		return rev != nil && rev.Status.GetCondition(servingv1.RevisionConditionReady).GetReason() == servingv1.ReasonProgressDeadlineExceeded
	})
	if got := w.live().Status.LatestReadyRevisionName; got != generated {
		t.Errorf("latestReadyRevisionName is %s, want %s", got, generated)
	}
}

// retrying matches an operation that failed and will be tried again.
func retrying(text string) func(*v1alpha1.Application) bool {
	return func(a *v1alpha1.Application) bool {
		state := a.Status.OperationState
		return state != nil && state.Phase == common.OperationRunning && state.RetryCount > 0 && strings.Contains(state.Message, text)
	}
}

const refused = `admission webhook "validation.webhook.serving.knative.dev" denied the request: validation failed: ` +
	`Saw the following changes without a name change (-old +new): spec.template.metadata.name`

func TestTrafficAloneIsRefusedWithoutTheDefaults(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	w.settled(w.infra.commit(change{tag: "v2.0.0", revision: second, traffic: generated + ":100 " + second + ":0:candidate"}))
	w.infra.commit(change{tag: "v2.0.0", revision: second, traffic: generated + ":50 " + second + ":50:candidate"})
	w.refresh()
	w.until("a refused sync", retrying(refused))
	if got, want := w.routing(), generated+":100 "+second+":0:candidate"; got != want {
		t.Errorf("the data path is %q, want the old one %q", got, want)
	}

	split := generated + ":50 " + second + ":50:candidate"
	later := w.infra.commit(change{tag: "v2.0.0", revision: second, defaults: true, traffic: split})
	got := w.refresh()
	if got.Status.Sync.Revision != later || got.Operation == nil || got.Operation.Sync.Revision == later {
		t.Fatalf("the later commit did not wait behind the retried one:\n%s", show(got.Status))
	}
	if _, err := w.client.Sync(w.auth(), &application.ApplicationSyncRequest{Name: ptr(app)}); status.Code(err) != codes.FailedPrecondition ||
		!strings.Contains(err.Error(), "another operation is already in progress") {
		t.Errorf("a sync meanwhile: %v", err)
	}
	if _, err := w.client.TerminateOperation(w.auth(), &application.OperationTerminateRequest{Name: ptr(app)}); err != nil {
		t.Fatal(err)
	}
	w.until("the end of the refused sync", func(a *v1alpha1.Application) bool {
		return a.Operation == nil || a.Operation.Sync.Revision == later
	})
	w.settled(later)
	if got := w.routing(); got != split {
		t.Errorf("the data path is %q, want %q", got, split)
	}
}

func TestRefusedCommitFailsAfterItsRetries(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *argotest.Config) { c.Speed = 400 })
	w.settled(w.infra.head())
	w.settled(w.infra.commit(change{tag: "v2.0.0", revision: second, defaults: true, traffic: second + ":100"}))
	commit := w.infra.commit(change{tag: "v3.0.0", revision: second, defaults: true, traffic: second + ":100"})
	w.refresh()
	failed := w.until("a SyncError", func(a *v1alpha1.Application) bool {
		return len(a.Status.Conditions) > 0 && a.Status.OperationState != nil && a.Status.OperationState.Phase == common.OperationFailed
	})
	if got := failed.Status.OperationState.Message; !strings.Contains(got, refused) || !strings.HasSuffix(got, "(retried 5 times).") {
		t.Errorf("the operation's message is\n%s", got)
	}
	condition := failed.Status.Conditions[0]
	if condition.Type != v1alpha1.ApplicationConditionSyncError || !strings.HasPrefix(condition.Message, "Failed sync attempt to "+commit) {
		t.Errorf("the condition is %s: %s", condition.Type, condition.Message)
	}
	if failed.Operation != nil || failed.Status.Sync.Status != v1alpha1.SyncStatusCodeOutOfSync {
		t.Errorf("after the last retry the Application is %s with operation %v, want OutOfSync without one", failed.Status.Sync.Status, failed.Operation)
	}
}

func TestRestoreReusesTheRevisionThatIsThere(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	w.settled(w.infra.commit(change{tag: "v2.0.0", revision: second, defaults: true, traffic: second + ":100"}))
	before := w.Revision("production", second)
	w.settled(w.infra.commit(change{tag: "v3.0.0", revision: third, defaults: true, traffic: third + ":100 " + second + ":0:previous"}))

	live := w.settled(w.infra.commit(change{tag: "v2.0.0", revision: second, defaults: true, traffic: second + ":100"}))
	if after := w.Revision("production", second); after.UID != before.UID {
		t.Errorf("revision %s was made again", second)
	}
	if got := live.Status.LatestReadyRevisionName; got != second {
		t.Errorf("latestReadyRevisionName is %s, want %s", got, second)
	}
	if got, want := w.routing(), second+":100"; got != want {
		t.Errorf("the data path is %q, want %q", got, want)
	}

	restored := w.settled(w.infra.commit(change{tag: "v1.0.0", revision: generated, defaults: true, traffic: generated + ":100"}))
	if got := restored.Status.LatestReadyRevisionName; got != generated {
		t.Errorf("latestReadyRevisionName is %s, want the generated %s", got, generated)
	}
}

func TestRevisionNameTaken(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	w.settled(w.infra.commit(change{tag: "v2.0.0", revision: second, defaults: true, traffic: second + ":100"}))
	w.settled(w.infra.commit(change{tag: "v3.0.0", revision: third, defaults: true, traffic: third + ":100"}))
	w.infra.commit(change{tag: "v4.0.0", revision: second, defaults: true, traffic: second + ":100"})
	w.refresh()
	w.until("RevisionNameTaken", func(*v1alpha1.Application) bool {
		return w.live().Status.GetCondition(servingv1.ServiceConditionRoutesReady).GetReason() == "RevisionNameTaken"
	})
	if got, want := w.routing(), third+":100"; got != want {
		t.Errorf("the data path is %q, want the old routing %q", got, want)
	}
}

func TestDeletedRevisionIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	w.settled(w.infra.commit(change{tag: "v2.0.0", revision: second, defaults: true, traffic: second + ":100"}))
	before := w.Revision("production", second)
	w.settled(w.infra.commit(change{tag: "v3.0.0", revision: third, defaults: true, traffic: third + ":100"}))
	if !w.DeleteRevision("production", second) {
		t.Fatal("there is no revision to delete")
	}
	w.settled(w.infra.commit(change{tag: "v2.0.0", revision: second, defaults: true, traffic: second + ":100"}))
	if after := w.Revision("production", second); after == nil || after.UID == before.UID {
		t.Errorf("revision %s was not made again: %v", second, after)
	}
}
