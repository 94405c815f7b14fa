package argotest_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/fake/argotest"
)

func TestCloseEndsAnOpenWatch(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	stream, err := w.client.Watch(w.auth(), &application.ApplicationQuery{Name: ptr(app)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	for err == nil {
		_, err = stream.Recv()
	}
	for _, address := range []string{w.Addr(), w.Ingress()} {
		if !refuses(address) {
			t.Errorf("%s still accepts connections", address)
		}
	}
	w.Close() // again is no harm
}

// refuses tells whether an address soon refuses connections. A program that another test is
// starting has copies of all sockets until it runs, so that one is not closed at once.
func refuses(address string) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return true
		}
		_ = conn.Close()
	}
	return false
}

func TestRootPath(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *argotest.Config) { c.RootPath = "/argo-cd" })
	for root, ok := range map[string]bool{"/argo-cd": true, "": false} {
		client, err := argo.New(argo.Config{Server: w.Addr(), Token: token, CA: w.CA(), RootPath: root})
		if err != nil {
			t.Fatal(err)
		}
		if version, err := client.Version(t.Context()); (err == nil) != ok || ok && version != "v2.14.21" {
			t.Errorf("below %q the version is %q, %v", root, version, err)
		}
	}
}

func TestMiddleware(t *testing.T) {
	t.Parallel()
	var pages atomic.Int32
	w := start(t, func(c *argotest.Config) {
		c.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.ProtoMajor == 2 {
					next.ServeHTTP(rw, r)
					return
				}
				pages.Add(1)
				rw.Header().Set("Content-Type", "text/html")
				_, _ = io.WriteString(rw, "<html>Please log in</html>")
			})
		}
	})
	if _, err := w.newClient(token).Version(t.Context()); err == nil || pages.Load() == 0 {
		t.Errorf("behind a login page the client got %v after %d pages", err, pages.Load())
	}
}

func TestEditedApplicationIsJudged(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	commit := w.infra.head()
	w.settled(commit)
	if w.EditApplication("nope", func(*v1alpha1.Application) {}) {
		t.Error("an application that does not exist was edited")
	}
	w.EditApplication(app, func(a *v1alpha1.Application) { a.Spec.Source.TargetRevision = "other" })
	if _, err := w.newClient(token).Live(w.auth(), target()); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("an application of another branch: %v", err)
	}
}

// Two Applications share a cluster, and neither sees the other's objects.
func TestApplicationsAreApart(t *testing.T) {
	t.Parallel()
	const staging = "product-import-staging"
	w := start(t, func(c *argotest.Config) {
		other := c.Apps[0]
		other.Name, other.Path, other.DestinationNamespace = staging, "apps/product-import/overlays/staging", "staging"
		c.Apps = append(c.Apps, other)
	})
	w.settled(w.infra.head())
	w.until("the revision in production", func(*v1alpha1.Application) bool { return w.Revision("production", generated) != nil })
	request := &application.ApplicationResourceRequest{
		Name: ptr(staging), Group: ptr("serving.knative.dev"), Kind: ptr("Revision"), Version: ptr("v1"),
		Namespace: ptr("production"), ResourceName: ptr(generated),
	}
	if _, err := w.client.GetResource(w.auth(), request); err == nil || !strings.Contains(err.Error(), "not found as part of application "+staging) {
		t.Errorf("the other application's revision: %v", err)
	}
	list, err := w.client.List(w.auth(), &application.ApplicationQuery{})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("list: %v, %v", list, err)
	}
}

// A misspelt field is dropped by the cluster, so the Application stays OutOfSync after a sync that
// succeeded.
func TestUnknownFieldIsDropped(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	w.infra.commit(change{tag: "v1.0.0", traffic: generated + ":100"})
	w.infra.write("promote.yaml", "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: "+service+"\nspec:\n  trafic: []\n")
	commit := w.infra.push("misspell")
	w.refresh()
	w.until("OutOfSync after a good sync", func(a *v1alpha1.Application) bool {
		state := a.Status.OperationState
		return a.Status.Sync.Status == v1alpha1.SyncStatusCodeOutOfSync && state != nil && state.Phase == common.OperationSucceeded &&
			state.SyncResult.Revision == commit && state.Operation.Sync.SelfHealAttemptsCount > 0
	})
}
