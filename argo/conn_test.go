package argo

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	versionpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/version"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/improbable-eng/grpc-web/go/grpcweb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var shop = App{Name: "shop-production", Namespace: "argocd", Project: "shops"}

func shopApplication() *v1alpha1.Application {
	return &v1alpha1.Application{
		ObjectMeta: metav1.ObjectMeta{Name: "shop-production", Namespace: "argocd", UID: "1234"},
		Spec:       v1alpha1.ApplicationSpec{Project: "shops"},
	}
}

// An apiServer is Argo CD's generated server with the answers of one test.
type apiServer struct {
	applicationpkg.UnimplementedApplicationServiceServer
	versionpkg.UnimplementedVersionServiceServer

	get   func(*applicationpkg.ApplicationQuery) (*v1alpha1.Application, error)
	sync  func() error
	watch func(applicationpkg.ApplicationService_WatchServer) error

	mu    sync.Mutex
	calls []metadata.MD // of all calls
}

func (s *apiServer) note(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	md, _ := metadata.FromIncomingContext(ctx)
	s.calls = append(s.calls, md)
}

func (s *apiServer) Get(ctx context.Context, q *applicationpkg.ApplicationQuery) (*v1alpha1.Application, error) {
	s.note(ctx)
	if s.get == nil {
		return shopApplication(), nil
	}
	return s.get(q)
}

func (s *apiServer) Sync(ctx context.Context, _ *applicationpkg.ApplicationSyncRequest) (*v1alpha1.Application, error) {
	s.note(ctx)
	return shopApplication(), s.sync()
}

func (s *apiServer) Watch(_ *applicationpkg.ApplicationQuery, stream applicationpkg.ApplicationService_WatchServer) error {
	return s.watch(stream)
}

func (s *apiServer) Version(context.Context, *emptypb.Empty) (*versionpkg.VersionMessage, error) {
	return &versionpkg.VersionMessage{Version: "v2.14.21"}, nil
}

func (s *apiServer) handler() http.Handler {
	server := grpc.NewServer()
	applicationpkg.RegisterApplicationServiceServer(server, s)
	versionpkg.RegisterVersionServiceServer(server, s)
	return grpcweb.WrapServer(server)
}

// dial makes a client of the TLS server that answers with handler.
func dial(t *testing.T, handler http.Handler, change func(*Config)) *Client {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	config := Config{
		Server:  strings.TrimPrefix(server.URL, "https://"),
		Token:   "s3cret",
		CA:      pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		Timeout: 5 * time.Second,
	}
	if change != nil {
		change(&config)
	}
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestCallCarriesTokenHeadersAndDeadline(t *testing.T) {
	t.Parallel()
	server := &apiServer{}
	client := dial(t, server.handler(), func(c *Config) {
		c.Headers = http.Header{"X-Team": {"shop"}}
		c.UserAgent = "knative-promote/1.2.3"
	})
	app, err := client.application(t.Context(), shop, noRefresh)
	if err != nil || app.Spec.Project != "shops" {
		t.Fatalf("got %v, %v", app, err)
	}
	got := server.calls[0]
	for key, want := range map[string]string{"authorization": "Bearer s3cret", "x-team": "shop", "user-agent": "knative-promote/1.2.3"} {
		if v := got.Get(key); len(v) != 1 || v[0] != want {
			t.Errorf("%s: got %q, want %q", key, v, want)
		}
	}
}

func TestTokenMakesWayForTheProxysAuthorization(t *testing.T) {
	t.Parallel()
	server := &apiServer{}
	client := dial(t, server.handler(), func(c *Config) { c.Headers = http.Header{"Authorization": {"Basic cHJveHk="}} })
	if _, err := client.application(t.Context(), shop, noRefresh); err != nil {
		t.Fatal(err)
	}
	if got := server.calls[0]; got.Get("authorization")[0] != "Basic cHJveHk=" || got.Get("token")[0] != "s3cret" {
		t.Errorf("got %v", got)
	}
}

func TestRootPath(t *testing.T) {
	t.Parallel()
	server := &apiServer{}
	client := dial(t, http.StripPrefix("/argo-cd", server.handler()), func(c *Config) { c.RootPath = "argo-cd/" })
	if version, err := client.Version(t.Context()); err != nil || version != "v2.14.21" {
		t.Errorf("got %q, %v", version, err)
	}
}

func TestPlaintext(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer((&apiServer{}).handler())
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	client, err := New(Config{Server: host, Token: "s3cret", Plaintext: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Version(t.Context()); err != nil {
		t.Error(err)
	}
	client, err = New(Config{Server: host, Token: "s3cret"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Version(t.Context())
	wantError(t, err, "does it speak HTTP without TLS? That must be allowed explicitly, as plaintext")
}

func TestErrorsOfCalls(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		code  codes.Code
		text  string
		is    error
		want  string
		tries int
	}{
		"expired token":  {codes.Unauthenticated, "invalid session: token is expired", ErrAuth, "the token is wrong, expired or revoked: invalid session: token is expired", 1},
		"no permission":  {codes.PermissionDenied, "permission denied", ErrAuth, "no such application, or the token may not do this: permission denied", 1},
		"not found":      {codes.NotFound, "applications.argoproj.io \"shop\" not found", ErrNotFound, "not found", 1},
		"bad request":    {codes.InvalidArgument, "multiple projects", nil, "multiple projects (InvalidArgument)", 1},
		"no service":     {codes.Unimplemented, "unknown service argo/version", nil, "unknown service argo/version: is this Argo CD, and is the root path right? (Unimplemented)", 1},
		"foreign text":   {codes.InvalidArgument, "a\n::set-output name=x::y\x1b[31m\u202e", nil, "a ::set-output name=x::y [31m (InvalidArgument)", 1},
		"heals":          {codes.Unavailable, "connection refused", nil, "", 3},
		"of its backend": {codes.Unknown, "error getting cached app", nil, "", 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &apiServer{}
			tries := 0
			server.get = func(*applicationpkg.ApplicationQuery) (*v1alpha1.Application, error) {
				if tries++; tries == 3 {
					return shopApplication(), nil
				}
				return nil, status.Error(test.code, test.text)
			}
			_, err := dial(t, server.handler(), nil).application(t.Context(), shop, noRefresh)
			if test.want != "" {
				wantError(t, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is not %v", err, test.is)
			}
			if tries != test.tries {
				t.Errorf("tried %d times, want %d", tries, test.tries)
			}
		})
	}
}

func TestWritingCallsAreNotRepeated(t *testing.T) {
	t.Parallel()
	server := &apiServer{sync: func() error { return status.Error(codes.Unavailable, "gone") }}
	err := dial(t, server.handler(), nil).sync(t.Context(), shopApplication())
	wantError(t, err, "syncing application shop-production: gone (Unavailable)")
	if len(server.calls) != 1 {
		t.Errorf("asked for a sync %d times", len(server.calls))
	}
}

func TestAnswerAboutSomethingElse(t *testing.T) {
	t.Parallel()
	server := &apiServer{get: func(*applicationpkg.ApplicationQuery) (*v1alpha1.Application, error) {
		return &v1alpha1.Application{}, nil
	}}
	_, err := dial(t, server.handler(), nil).application(t.Context(), shop, noRefresh)
	wantError(t, err, `reading application argocd/shop-production: Argo CD answered with "" in namespace "" and project "default" instead`)
}

func TestRefreshNobodyAnswers(t *testing.T) {
	t.Parallel()
	server := &apiServer{get: func(q *applicationpkg.ApplicationQuery) (*v1alpha1.Application, error) {
		if q.Refresh != nil {
			return nil, errors.New("application refresh deadline exceeded")
		}
		return shopApplication(), nil
	}}
	client := dial(t, server.handler(), func(c *Config) { c.Timeout = 300 * time.Millisecond })
	if app, err := client.application(t.Context(), shop, v1alpha1.RefreshTypeNormal); err != nil || app.Name != shop.Name {
		t.Errorf("got %v, %v: expected the application as it is", app, err)
	}
}

// TestRefreshLost has a controller that has lost a refresh: it hears of the next one only
// if that is of another kind.
func TestRefreshLost(t *testing.T) {
	t.Parallel()
	server := &apiServer{get: func(q *applicationpkg.ApplicationQuery) (*v1alpha1.Application, error) {
		if q.GetRefresh() != string(v1alpha1.RefreshTypeHard) {
			return nil, errors.New("application refresh deadline exceeded")
		}
		app := shopApplication()
		app.Status.Sync.Revision = "new"
		return app, nil
	}}
	if app, err := dial(t, server.handler(), nil).application(t.Context(), shop, v1alpha1.RefreshTypeNormal); err != nil || app.Status.Sync.Revision != "new" {
		t.Errorf("got %v, %v: expected the application after the refresh", app, err)
	}
}

func TestWatchWakes(t *testing.T) {
	t.Parallel()
	server := &apiServer{watch: func(stream applicationpkg.ApplicationService_WatchServer) error {
		if err := stream.Send(&v1alpha1.ApplicationWatchEvent{Type: "ADDED", Application: *shopApplication()}); err != nil {
			return err
		}
		return status.Error(codes.PermissionDenied, "in the trailer only")
	}}
	client := dial(t, server.handler(), nil)
	stream, err := client.apps.Watch(t.Context(), &applicationpkg.ApplicationQuery{Name: &shop.Name})
	if err != nil {
		t.Fatal(err)
	}
	if event, err := stream.Recv(); err != nil || event.Application.Name != shop.Name {
		t.Fatalf("got %v, %v", event, err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.PermissionDenied {
		t.Errorf("got %v: expected the trailer's error", err)
	}
	<-client.watch(t.Context(), shop).wake
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("no error, want %q", text)
	case !strings.Contains(err.Error(), text):
		t.Errorf("got error %q\nwant %q", err, text)
	case strings.Contains(err.Error(), "s3cret"):
		t.Errorf("the token is in the error %q", err)
	}
}
