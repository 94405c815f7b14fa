package argo

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	versionpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/version"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/health"
	"github.com/improbable-eng/grpc-web/go/grpcweb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"knative.dev/serving/pkg/apis/serving"
)

// TestUnlessListed has what the Application lists of a Service that the tree of live
// objects lacks, as after a restart: only what is missing is no Service yet.
func TestUnlessListed(t *testing.T) {
	t.Parallel()
	synced, outOfSync := v1alpha1.SyncStatusCodeSynced, v1alpha1.SyncStatusCodeOutOfSync
	for _, test := range []struct {
		status v1alpha1.SyncStatusCode
		health *v1alpha1.HealthStatus
		want   string
	}{
		{outOfSync, &v1alpha1.HealthStatus{Status: health.HealthStatusMissing}, "not found"},
		{outOfSync, nil, "not found"}, // Argo CD 3 need not keep the health there
		{outOfSync, &v1alpha1.HealthStatus{Status: health.HealthStatusHealthy}, "application shop-prod has the Service shop as Healthy, and yet Argo CD does not find it: " +
			"expected one or the other; the command check may find why; start again when Argo CD agrees with itself: not found"},
		{synced, nil, "application shop-prod has the Service shop in sync, and yet Argo CD does not find it: " +
			"expected one or the other; the command check may find why; start again when Argo CD agrees with itself: not found"},
	} {
		app := &v1alpha1.Application{}
		app.Name = "shop-prod"
		app.Status.Resources = []v1alpha1.ResourceStatus{{Group: serving.GroupName, Kind: "Service", Name: "shop", Status: test.status, Health: test.health}}
		got := unlessListed(ErrNotFound, app, "shop")
		if got.Error() != test.want || errors.Is(got, ErrNotFound) != (test.want == "not found") {
			t.Errorf("%s, %v: got %q, want %q", test.status, test.health, got, test.want)
		}
	}
}

// TestUnlessCompared has Applications in which nothing is found: of one that was not compared that says nothing.
func TestUnlessCompared(t *testing.T) {
	t.Parallel()
	for status, want := range map[v1alpha1.SyncStatusCode]string{
		v1alpha1.SyncStatusCodeSynced: "not found", v1alpha1.SyncStatusCodeOutOfSync: "not found",
		v1alpha1.SyncStatusCodeUnknown: "argo CD has not compared application shop-prod with Git and the cluster, so that nobody can tell whether the Service is there; " +
			"expected a status other than Unknown: correct what keeps it from that, or start again in a moment: no repo server",
		"": "argo CD has not compared application shop-prod with Git and the cluster, so that nobody can tell whether the Service is there; " +
			"expected a status other than Unknown: correct what keeps it from that, or start again in a moment: no repo server",
	} {
		app := &v1alpha1.Application{}
		app.Name, app.Status.Sync.Status = "shop-prod", status
		app.Status.Conditions = []v1alpha1.ApplicationCondition{{Type: v1alpha1.ApplicationConditionComparisonError, Message: "no repo server"}}
		got := unlessCompared(ErrNotFound, app)
		if got.Error() != want || errors.Is(got, ErrNotFound) != (want == "not found") {
			t.Errorf("%s: got %q, want %q", status, got, want)
		}
	}
}

// A liveServer is an apiServer with the objects of a recorded situation.
type liveServer struct {
	apiServer
	observed Observed
	windows  []string // kinds of the active ones
	closed   bool     // for a sync by hand too
}

func (s *liveServer) GetResource(_ context.Context, q *applicationpkg.ApplicationResourceRequest) (*applicationpkg.ApplicationResourceResponse, error) {
	var object any
	switch {
	case q.GetGroup() != serving.GroupName || q.GetVersion() != "v1" || q.GetNamespace() != "production":
	case q.GetKind() == "Service" && s.observed.Service != nil:
		object = s.observed.Service
	case q.GetKind() == "Revision" && s.observed.Revision != nil:
		object = s.observed.Revision
	}
	if object == nil {
		return nil, status.Errorf(codes.InvalidArgument, "%s %s %s not found as part of application %s", q.GetKind(), q.GetGroup(), q.GetResourceName(), q.GetName())
	}
	data, err := json.Marshal(object)
	manifest := string(data)
	return &applicationpkg.ApplicationResourceResponse{Manifest: &manifest}, err
}

func (s *liveServer) GetApplicationSyncWindows(context.Context, *applicationpkg.ApplicationSyncWindowsQuery) (*applicationpkg.ApplicationSyncWindowsResponse, error) {
	can, manual, schedule := !s.closed, true, "* * * * *"
	answer := &applicationpkg.ApplicationSyncWindowsResponse{CanSync: &can}
	for _, kind := range s.windows {
		answer.ActiveWindows = append(answer.ActiveWindows, &applicationpkg.ApplicationSyncWindow{Kind: &kind, Schedule: &schedule, Duration: &schedule, ManualSync: &manual})
	}
	return answer, nil
}

func (s *liveServer) handler() http.Handler {
	server := grpc.NewServer()
	applicationpkg.RegisterApplicationServiceServer(server, s)
	versionpkg.RegisterVersionServiceServer(server, s)
	return grpcweb.WrapServer(server)
}

// newLiveServer serves a situation of testdata/judge.
func newLiveServer(t *testing.T, name string) (*liveServer, Intent) {
	t.Helper()
	in, observed := scene(t, name)
	s := &liveServer{observed: observed}
	s.get = func(*applicationpkg.ApplicationQuery) (*v1alpha1.Application, error) { return s.observed.App, nil }
	return s, in
}

func TestLive(t *testing.T) {
	t.Parallel()
	s, in := newLiveServer(t, "recorded-full-live")
	s.observed.Revision.Name = s.observed.Service.Status.LatestReadyRevisionName
	observed, err := dial(t, s.handler(), nil).Live(t.Context(), in.Target)
	if err != nil || observed.Service.Name != in.Service || observed.Revision.Name != observed.Service.Status.LatestReadyRevisionName {
		t.Errorf("got %v, %v", observed, err)
	}
}

func TestLiveRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*liveServer, *Intent)
		want   string
		is     error
	}{
		"no such service": {func(s *liveServer, _ *Intent) {
			s.observed.Service = nil
			s.observed.App.Status.Resources[0].Status = v1alpha1.SyncStatusCodeOutOfSync
			s.observed.App.Status.Resources[0].Health = &v1alpha1.HealthStatus{Status: health.HealthStatusMissing}
		}, "reading Service web-b of application web-b-production: not found", ErrNotFound},
		"a service that Argo CD says is there and is not": {func(s *liveServer, _ *Intent) { s.observed.Service = nil },
			"application web-b-production has the Service web-b in sync, and yet Argo CD does not find it: expected one or the other; the command check may find why; start again when Argo CD agrees with itself: reading Service web-b", nil},
		"another source": {func(_ *liveServer, in *Intent) { in.Source.Path = "apps/x" },
			"application web-b-production does not deploy apps/x of https://git.example.test/infra.git, it deploys apps/web-b/overlays/production of https://git.example.test/infra.git: set application, repository and path to what belongs together", nil},
		"another branch": {func(_ *liveServer, in *Intent) { in.Source.Branch = "release" },
			`application web-b-production follows "main" and not the branch release, where the commits go: it would never see them`, nil},
		"another service": {func(s *liveServer, _ *Intent) { s.observed.Service.Name = "web-a" },
			`reading Service production/web-b of application web-b-production: Argo CD answered with "web-a" in namespace "production" instead`, nil},
		"two services": {func(s *liveServer, _ *Intent) {
			second := s.observed.App.Status.Resources[0]
			second.Namespace = "other"
			s.observed.App.Status.Resources = append(s.observed.App.Status.Resources, second)
		}, "application web-b-production has a Knative Service web-b in each of the namespaces production, other: expected one", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, in := newLiveServer(t, "recorded-full-live")
			test.change(s, &in)
			observed, err := dial(t, s.handler(), nil).Live(t.Context(), in.Target)
			wantError(t, err, test.want)
			if errors.Is(err, ErrNotFound) != (test.is == ErrNotFound) {
				t.Errorf("got %v: want %v", err, test.is)
			}
			if test.is != nil && observed.App == nil {
				t.Error("got no application")
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]CommitState{
		"recorded-candidate-live":    Live,
		"recorded-candidate-ingress": Wait,
		"recorded-refused":           Failed,
		"recorded-broken-deadline":   Failed,
		"service-missing":            Wait,
		"revision-not-read":          Wait,
		"branch-for-revision":        Wait,
		"others-sync-failed":         Live,
		"others-hook-of-earlier":     Live,
		"traffic-only":               Live,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, in := newLiveServer(t, name)
			in.Carries = func(_ context.Context, revision string) (bool, error) { // some were recorded with a commit on top
				if len(revision) != len(in.Commit) {
					t.Errorf("asked about %q", revision)
				}
				return true, nil
			}
			verdict, _, err := dial(t, s.handler(), nil).Check(t.Context(), in)
			if err != nil || verdict.State != want {
				t.Errorf("got %v, %v", verdict, err)
			}
		})
	}
}

func TestAwaitOverTheWire(t *testing.T) {
	t.Parallel()
	s, in := newLiveServer(t, "recorded-candidate-live")
	s.watch = func(stream applicationpkg.ApplicationService_WatchServer) error {
		<-stream.Context().Done()
		return nil
	}
	observed, err := dial(t, s.handler(), nil).Await(t.Context(), in, nil)
	if err != nil || observed.Revision.Name != in.Revision {
		t.Errorf("got %v, %v", observed.Revision, err)
	}
}

func TestStuckSyncRespectsWindows(t *testing.T) {
	t.Parallel()
	s, _ := newLiveServer(t, "out-of-sync")
	s.windows, s.closed = []string{"deny"}, true
	synced := 0
	s.sync = func() error { synced++; return nil }
	client := dial(t, s.handler(), nil)
	if err := client.send(t.Context(), s.observed.App, syncStuck, ""); !errors.Is(err, errWindow) || synced != 0 {
		t.Errorf("got %v after %d syncs", err, synced)
	}
	if err := client.send(t.Context(), s.observed.App, syncHand, ""); !errors.Is(err, errWindow) || synced != 0 {
		t.Errorf("by hand: got %v after %d syncs", err, synced)
	}
	s.closed = false
	if err := client.send(t.Context(), s.observed.App, syncStuck, ""); !errors.Is(err, errWindow) || synced != 0 {
		t.Errorf("got %v after %d syncs", err, synced)
	}
	if err := client.send(t.Context(), s.observed.App, syncHand, ""); err != nil || synced != 1 {
		t.Errorf("by hand: got %v after %d syncs", err, synced)
	}
	s.windows, synced = nil, 0
	if err := client.send(t.Context(), s.observed.App, syncStuck, ""); err != nil || synced != 1 {
		t.Errorf("got %v after %d syncs", err, synced)
	}
}

func TestSyncAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer error
		is     error
		want   string
	}{
		"runs already":    {status.Error(codes.FailedPrecondition, "another operation is already in progress"), nil, ""},
		"window":          {status.Error(codes.PermissionDenied, "cannot sync: blocked by sync window"), errWindow, "a sync window is closed"},
		"no permission":   {status.Error(codes.PermissionDenied, "permission denied: applications, sync"), ErrAuth, "syncing application shop-production: not allowed by Argo CD"},
		"other condition": {status.Error(codes.FailedPrecondition, "Cannot sync to abc: auto-sync currently set to main"), nil, "auto-sync currently set to main (FailedPrecondition)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &apiServer{sync: func() error { return test.answer }}
			err := dial(t, server.handler(), nil).sync(t.Context(), shopApplication())
			if test.want != "" {
				wantError(t, err, test.want)
			}
			if (err == nil) != (test.want == "") || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v", err)
			}
		})
	}
}
