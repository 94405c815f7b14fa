package argotest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/settings"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/version"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/fake/argotest"
)

func TestErrorsAreArgoCDs(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	bare := t.Context()
	with := func(token string) context.Context {
		return metadata.AppendToOutgoingContext(bare, "authorization", "Bearer "+token)
	}
	get := func(ctx context.Context, query *application.ApplicationQuery) error {
		_, err := w.client.Get(ctx, query)
		return err
	}
	resource := func(kind, name string) error {
		_, err := w.client.GetResource(w.auth(), &application.ApplicationResourceRequest{
			Name: ptr(app), Group: ptr("serving.knative.dev"), Kind: &kind, Version: ptr("v1"), Namespace: ptr("production"), ResourceName: &name,
		})
		return err
	}
	for _, test := range []struct {
		name string
		err  error
		code codes.Code
		text string
	}{
		{"no token", get(bare, &application.ApplicationQuery{Name: ptr(app)}), codes.Unauthenticated, "no session information"},
		{"wrong token", get(with("a.b.c"), &application.ApplicationQuery{Name: ptr(app)}), codes.Unauthenticated, "invalid session: token signature is invalid"},
		{"no token at all", get(with("abc"), &application.ApplicationQuery{Name: ptr(app)}), codes.Unauthenticated, "invalid session: token contains an invalid number of segments"},
		{"unknown application", get(w.auth(), &application.ApplicationQuery{Name: ptr("nope")}), codes.PermissionDenied, "permission denied"},
		{"unknown application of a project", get(w.auth(), &application.ApplicationQuery{Name: ptr("nope"), Project: []string{"default"}}),
			codes.NotFound, `applications.argoproj.io "nope" not found`},
		{"another project's application", get(w.auth(), &application.ApplicationQuery{Name: ptr(app), Project: []string{"other"}}),
			codes.NotFound, `applications.argoproj.io "` + app + `" not found`},
		{"unknown resource", resource("Revision", "nope"), codes.InvalidArgument,
			"Revision serving.knative.dev nope not found as part of application " + app},
		{"a service, a route, a configuration and a revision", errorsOf(resource("Service", service), resource("Route", service),
			resource("Configuration", service), resource("Revision", generated)), codes.OK, ""},
	} {
		if got := status.Convert(test.err); got.Code() != test.code || !strings.HasPrefix(got.Message(), test.text) {
			t.Errorf("%s: got %s %q, want %s %q", test.name, got.Code(), got.Message(), test.code, test.text)
		}
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestFaults(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	versions := version.NewVersionServiceClient(dial(t, w.Server))
	w.Fail(codes.Unavailable, 1)
	if _, err := versions.Version(t.Context(), &emptypb.Empty{}); status.Code(err) != codes.Unavailable {
		t.Errorf("the call that should fail returned %v", err)
	}
	got, err := versions.Version(t.Context(), &emptypb.Empty{})
	if err != nil || got.Version != "v2.14.21" {
		t.Errorf("the call after it: %v, %v", got, err)
	}
	w.Pause(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := versions.Version(ctx, &emptypb.Empty{}); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a call in the pause returned %v, want its deadline", err)
	}
}

func TestSyncByHand(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *argotest.Config) { c.Apps[0].AutoSync = false })
	commit := w.infra.head()
	if got := w.refresh(); got.Status.Sync.Status != v1alpha1.SyncStatusCodeOutOfSync || got.Operation != nil ||
		got.Status.Resources[0].Health.Status != "Missing" || got.Status.Health.Status != "Healthy" {
		t.Fatalf("before the sync: %s", show(got.Status))
	}
	started, err := w.client.Sync(w.auth(), &application.ApplicationSyncRequest{Name: ptr(app), Revision: ptr(commit)})
	if err != nil || started.Operation == nil {
		t.Fatalf("sync: %v, operation %v", err, started)
	}
	w.settled(commit)
	done := w.refresh()
	if history := done.Status.History; len(history) != 1 || history[0].Revision != commit || done.Status.OperationState.Phase != common.OperationSucceeded {
		t.Errorf("after the sync: %s", show(done.Status))
	}
	if _, err := w.client.TerminateOperation(w.auth(), &application.OperationTerminateRequest{Name: ptr(app)}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("terminating nothing: %v", err)
	}
}

func TestSyncOfACommitIsRefusedWhileAutomated(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	commit := w.infra.head()
	_, err := w.client.Sync(w.auth(), &application.ApplicationSyncRequest{Name: ptr(app), Revision: ptr(commit)})
	if want := "Cannot sync to " + commit + ": auto-sync currently set to main"; status.Code(err) != codes.FailedPrecondition ||
		status.Convert(err).Message() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestBrokenManifestIsAComparisonError(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	w.infra.write("kustomization.yaml", "resources: [nowhere.yaml]\n")
	w.infra.push("break it")
	got := w.refresh()
	if len(got.Status.Conditions) != 1 || got.Status.Conditions[0].Type != v1alpha1.ApplicationConditionComparisonError ||
		!strings.Contains(got.Status.Conditions[0].Message, "kustomize build") {
		t.Errorf("conditions: %s", show(got.Status.Conditions))
	}
	if got.Status.Sync.Status != v1alpha1.SyncStatusCodeUnknown || got.Status.Sync.Revision != "" {
		t.Errorf("sync is %s at %q, want Unknown without a revision", got.Status.Sync.Status, got.Status.Sync.Revision)
	}
	w.settled(w.infra.commit(change{tag: "v1.0.1", traffic: generated + ":100", defaults: true}))
	if got := w.refresh(); len(got.Status.Conditions) != 0 {
		t.Errorf("the condition stays: %s", show(got.Status.Conditions))
	}
}

func TestLiveChangeIsHealed(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	split := generated + ":100"
	w.settled(w.infra.head())
	w.settled(w.infra.commit(change{tag: "v1.0.0", traffic: split, defaults: true}))
	generation := w.live().Generation
	mine := servingv1.TrafficTarget{RevisionName: generated, Percent: ptr(int64(0)), LatestRevision: ptr(false), Tag: "mine"}
	err := w.Edit(t.Context(), "production", service, func(live *servingv1.Service) { live.Spec.Traffic = append(live.Spec.Traffic, mine) })
	if err != nil {
		t.Fatal(err)
	}
	w.until("the change to be undone", func(a *v1alpha1.Application) bool {
		return w.live().Generation == generation+2 && w.routing() == split && a.Status.Sync.Status == v1alpha1.SyncStatusCodeSynced
	})
	if err := w.Edit(t.Context(), "production", service, func(live *servingv1.Service) { *live.Spec.Traffic[0].Percent = 99 }); err == nil ||
		!strings.Contains(err.Error(), "sum to 99, want 100") {
		t.Errorf("an invalid edit: %v", err)
	}
}

// Argo CD's client-side comparison does not see a field that Git does not mention, not even inside
// a list.
func TestLiveChangeOfAnUnmentionedFieldIsHidden(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	w.settled(w.infra.commit(change{tag: "v1.0.0", traffic: generated + ":100", defaults: true}))
	err := w.Edit(t.Context(), "production", service, func(live *servingv1.Service) { live.Spec.Traffic[0].Tag = "mine" })
	if err != nil {
		t.Fatal(err)
	}
	w.until("the change to be live", func(*v1alpha1.Application) bool { return w.routing() == generated+":100:mine" })
	if got := w.refresh(); got.Status.Sync.Status != v1alpha1.SyncStatusCodeSynced || got.Operation != nil {
		t.Errorf("the Application is %s with operation %v, want Synced without one", got.Status.Sync.Status, got.Operation)
	}
}

func TestCommitIsFoundByPolling(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *argotest.Config) { c.Poll = 2 * time.Second })
	w.settled(w.infra.head())
	commit := w.infra.commit(change{tag: "v2.0.0", revision: second, defaults: true, traffic: second + ":100"})
	w.until("the commit without a refresh", naive(commit))
}

func TestSettings(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	got, err := settings.NewSettingsServiceClient(dial(t, w.Server)).Get(w.auth(), &settings.SettingsQuery{})
	if err != nil || got.AppLabelKey != "app.kubernetes.io/instance" || len(got.ResourceOverrides) != 1 {
		t.Errorf("settings: %v, %v", got, err)
	}
}

func TestManifestsAndResources(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	commit := w.infra.head()
	w.settled(commit)
	rendered, err := w.client.GetManifests(w.auth(), &application.ApplicationManifestQuery{Name: ptr(app), Revision: ptr(commit)})
	if err != nil || len(rendered.Manifests) != 1 || !strings.Contains(rendered.Manifests[0], "ghcr.io/acme/"+service+":v1.0.0") || rendered.Revision != commit {
		t.Errorf("manifests: %v, %v", rendered, err)
	}
	managed, err := w.client.ManagedResources(w.auth(), &application.ResourcesQuery{ApplicationName: ptr(app), Kind: ptr("Service")})
	if err != nil || len(managed.Items) != 1 || managed.Items[0].Modified || !strings.Contains(managed.Items[0].LiveState, "observedGeneration") {
		t.Errorf("managed resources: %v, %v", managed, err)
	}
	tree, err := w.client.ResourceTree(w.auth(), &application.ResourcesQuery{ApplicationName: ptr(app)})
	if err != nil || tree.FindNode("serving.knative.dev", "Revision", "production", generated) == nil {
		t.Errorf("tree: %v, %v", tree, err)
	}
}

// Once everything has settled, looking at it must not move it.
func TestNothingMovesByItself(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	before, revision := w.live(), w.Revision("production", generated)
	for range 3 {
		w.refresh()
	}
	if got := w.live().ResourceVersion; got != before.ResourceVersion {
		t.Errorf("the Service moved from version %s to %s", before.ResourceVersion, got)
	}
	if got := w.Revision("production", generated).ResourceVersion; got != revision.ResourceVersion {
		t.Errorf("the Revision moved from version %s to %s", revision.ResourceVersion, got)
	}
}
