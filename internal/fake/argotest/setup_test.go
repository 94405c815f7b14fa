package argotest_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/fake/argotest"
)

// setup is what the product's own client reads.
func (w *world) setup(token string) argo.Setup {
	w.t.Helper()
	setup, err := w.newClient(token).Setup(w.t.Context(), argo.Target{App: argo.App{Name: app}, Service: service}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return setup
}

func TestSetup(t *testing.T) {
	t.Parallel()
	override := v1alpha1.ResourceOverride{HealthLua: "return {}", IgnoreDifferences: v1alpha1.OverrideIgnoreDiff{JSONPointers: []string{"/status"}}}
	w := start(t, func(c *argotest.Config) {
		c.Overrides = map[string]v1alpha1.ResourceOverride{"serving.knative.dev/Service": override}
		c.Denied = []string{"applications/delete", "projects/update"}
		c.Projects = []v1alpha1.AppProject{{
			ObjectMeta: metav1.ObjectMeta{Name: "default"},
			Spec:       v1alpha1.AppProjectSpec{SignatureKeys: []v1alpha1.SignatureKey{{KeyID: "4AEE18F83AFDEB23"}}},
		}}
	})
	w.settled(w.infra.head())
	got := w.setup(token)
	if got.Version != "v2.14.21" || got.App.Name != app || got.Project.Spec.SignatureKeys[0].KeyID != "4AEE18F83AFDEB23" ||
		!got.Windows.GetCanSync() || got.Anonymous || len(got.Owners) != 0 || !got.Expires.IsZero() || len(got.Unread) != 0 {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff(override, *got.Overrides["serving.knative.dev/Service"]); diff != "" {
		t.Errorf("override (-want +got):\n%s", diff)
	}
	can := map[argo.Right]bool{argo.MaySync: true, argo.MayUpdate: true, argo.MayDelete: false, argo.MayUpdateProject: false}
	if diff := cmp.Diff(can, got.Can); diff != "" {
		t.Errorf("can (-want +got):\n%s", diff)
	}
}

func TestDeniedRights(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *argotest.Config) { c.Denied = []string{"applications/sync", "projects/get"} })
	w.settled(w.infra.head())
	got := w.setup(token)
	if got.Can[argo.MaySync] || got.Project != nil {
		t.Errorf("got %+v", got)
	}
	want := "reading project default: not allowed by Argo CD: no such application, or the token may not do this: permission denied: projects, get, default, sub: ci"
	if err := got.Unread[argo.SectionProject]; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	_, err := w.client.Sync(w.auth(), &application.ApplicationSyncRequest{Name: ptr(app)})
	wantCode(t, err, codes.PermissionDenied, "permission denied: applications, sync, default/"+app)
}

// TestSyncWindows has a commit that waits for a window, as in the real server without a word.
func TestSyncWindows(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	always := v1alpha1.SyncWindow{Kind: "deny", Schedule: "* * * * *", Duration: "1h", Namespaces: []string{"*"}}
	w.EditProject("default", func(p *v1alpha1.AppProject) { p.Spec.SyncWindows = v1alpha1.SyncWindows{&always} })
	windows := w.setup(token).Windows
	if windows.GetCanSync() || len(windows.ActiveWindows) != 1 || windows.ActiveWindows[0].GetKind() != "deny" {
		t.Errorf("the windows are %v", windows)
	}
	commit := w.infra.commit(change{tag: "v2.0.0", revision: second, defaults: true, traffic: second + ":100"})
	got := w.refresh()
	if got.Status.Sync.Revision != commit || got.Status.Sync.Status != v1alpha1.SyncStatusCodeOutOfSync || got.Operation != nil || len(got.Status.Conditions) > 0 {
		t.Errorf("with a closed window the application is %s", show(got.Status))
	}
	_, err := w.client.Sync(w.auth(), &application.ApplicationSyncRequest{Name: ptr(app)})
	wantCode(t, err, codes.PermissionDenied, "cannot sync: blocked by sync window")
	w.EditProject("default", func(p *v1alpha1.AppProject) { p.Spec.SyncWindows = nil })
	w.settled(commit)
	if w.EditProject("none", func(*v1alpha1.AppProject) {}) {
		t.Error("there is a project named none")
	}
}

// TestWrongTokenLearnsLittle compares with what the real server tells everybody.
func TestWrongTokenLearnsLittle(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	known := w.settledApplication()
	got, err := w.newClient("a.b.c").Setup(t.Context(), argo.Target{App: argo.App{Name: app}, Service: service}, known)
	if err != nil {
		t.Fatal(err)
	}
	if got.Version == "" || !got.Anonymous || got.Can != nil || got.Project != nil || got.Windows != nil || got.Overrides != nil {
		t.Errorf("got %+v", got)
	}
	for _, part := range []argo.Section{argo.SectionRights, argo.SectionProject, argo.SectionWindows, argo.SectionOverrides, argo.SectionOwners, argo.SectionOthers} {
		if got.Unread[part] == nil {
			t.Errorf("nothing says why %s was not read", part)
		}
	}
}

func (w *world) settledApplication() *v1alpha1.Application {
	w.t.Helper()
	w.settled(w.infra.head())
	return w.until("nothing", func(*v1alpha1.Application) bool { return true })
}

func wantCode(t *testing.T, err error, code codes.Code, text string) {
	t.Helper()
	if got := status.Convert(err); got.Code() != code || !strings.HasPrefix(got.Message(), text) {
		t.Errorf("got %v, want %s: %s", err, code, text)
	}
}

// TestEssentials counts what a promotion asks for.
func TestEssentials(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	w := start(t, func(c *argotest.Config) {
		c.Denied = []string{"applications/sync"}
		c.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				next.ServeHTTP(out, r)
			})
		}
	})
	known := w.settledApplication()
	client := w.newClient(token)
	asked.Store(0)
	got := client.Essentials(t.Context(), argo.Target{}, known)
	if n := asked.Load(); n != 6 {
		t.Errorf("it took %d requests", n)
	}
	if diff := cmp.Diff(map[argo.Right]bool{argo.MaySync: false}, got.Can); diff != "" {
		t.Errorf("can (-want +got):\n%s", diff)
	}
	if got.App != known || got.Project == nil || got.Windows == nil || got.Overrides == nil || len(got.Unread) > 0 {
		t.Errorf("got %+v", got)
	}
}
