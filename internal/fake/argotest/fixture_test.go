package argotest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/fake/argotest"
)

func TestMain(m *testing.M) {
	// The tests mostly wait for the server.
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const (
	service = "product-import"
	overlay = "apps/product-import/overlays/production"
	app     = "product-import-production"
	token   = "s3cret"
)

// infra is a bare repository with the example's files and a clone to commit from.
type infra struct {
	t         *testing.T
	bare, dir string
}

func newInfra(t *testing.T) *infra {
	t.Helper()
	r := &infra{t: t, bare: filepath.Join(t.TempDir(), "infra.git"), dir: t.TempDir()}
	if err := os.CopyFS(r.dir, os.DirFS("../../../testdata/infra")); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	r.git("init", "-q", "--bare", "-b", "main", r.bare)
	r.push("seed")
	return r
}

func (r *infra) git(args ...string) string {
	r.t.Helper()
	command := exec.CommandContext(r.t.Context(), "git", args...)
	command.Dir = r.dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.test",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.test")
	out, err := command.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *infra) write(name, content string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, overlay, name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// push commits all there is and returns the commit.
func (r *infra) push(message string) string {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	r.git("push", "-q", r.bare, "main")
	return r.git("rev-parse", "HEAD")
}

// change is what one commit sets in the overlay.
type change struct {
	tag      string
	revision string // the template's name; empty: generated
	traffic  string // "revision:percent[:tag]", by space
	defaults bool   // write Knative's defaults of the container into the overlay
}

// commit writes the overlay as the product does and pushes it.
func (r *infra) commit(c change) string {
	r.t.Helper()
	patches := "patches:\n  - path: patches/scale.yaml\n  - path: promote.yaml\n"
	if c.defaults {
		patches += "  - path: defaults.yaml\n    target: {group: serving.knative.dev, version: v1, kind: Service, name: " + service + "}\n"
		r.write("defaults.yaml", "- {op: add, path: /spec/template/spec/containers/0/name, value: user-container}\n"+
			"- {op: add, path: /spec/template/spec/containers/0/readinessProbe, value: {successThreshold: 1, tcpSocket: {port: 0}}}\n")
	}
	r.write("kustomization.yaml", "namespace: production\nresources:\n  - ../../base\n"+patches+
		"images:\n  - name: ghcr.io/acme/"+service+"\n    newTag: "+c.tag+"\n")
	patch := "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: " + service + "\nspec:\n"
	if c.revision != "" {
		patch += "  template:\n    metadata:\n      name: " + c.revision + "\n"
	}
	patch += "  traffic:\n"
	for _, target := range strings.Fields(c.traffic) {
		parts := strings.Split(target, ":")
		patch += fmt.Sprintf("    - {revisionName: %s, percent: %s, latestRevision: false", parts[0], parts[1])
		if len(parts) == 3 {
			patch += ", tag: " + parts[2]
		}
		patch += "}\n"
	}
	r.write("promote.yaml", patch)
	return r.push(c.tag + " " + c.revision + " " + c.traffic)
}

// world is a server with one Application and a client of it.
type world struct {
	*argotest.Server
	t      *testing.T
	infra  *infra
	client application.ApplicationServiceClient
}

// start starts a server that is twenty times as fast as the real one and waits until the example is
// live.
func start(t *testing.T, adjust func(*argotest.Config)) *world {
	t.Helper()
	w := &world{t: t, infra: newInfra(t)}
	config := argotest.Config{Token: token, Speed: 20, Apps: []argotest.App{{
		Name: app, RepoURL: "https://git.example.test/infra.git", GitDir: w.infra.bare, Path: overlay,
		DestinationNamespace: "production", AutoSync: true, SelfHeal: true,
	}}}
	if adjust != nil {
		adjust(&config)
	}
	server, err := argotest.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	w.Server, w.client = server, application.NewApplicationServiceClient(dial(t, server))
	return w
}

func dial(t *testing.T, server *argotest.Server) *grpc.ClientConn {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(server.CA()) {
		t.Fatal("the CA is not a PEM certificate")
	}
	conn, err := grpc.NewClient(server.Addr(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// auth is a context with the token and a deadline for the whole wait of a test.
func (w *world) auth() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	w.t.Cleanup(cancel)
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

func ptr[T any](value T) *T { return &value }

// refresh is a Get that waits for a new comparison.
func (w *world) refresh() *v1alpha1.Application {
	w.t.Helper()
	got, err := w.client.Get(w.auth(), &application.ApplicationQuery{Name: ptr(app), Refresh: ptr("normal")})
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// until follows the Application until done.
func (w *world) until(what string, done func(*v1alpha1.Application) bool) *v1alpha1.Application {
	w.t.Helper()
	stream, err := w.client.Watch(w.auth(), &application.ApplicationQuery{Name: ptr(app)})
	if err != nil {
		w.t.Fatal(err)
	}
	var last *v1alpha1.Application
	for {
		event, err := stream.Recv()
		if err != nil {
			w.t.Fatalf("waiting for %s: %v; the last state was\n%s", what, err, show(last))
		}
		if last = &event.Application; done(last) {
			return last
		}
	}
}

// settled waits until commit is synced and its Service is at its generation and ready.
func (w *world) settled(commit string) *servingv1.Service {
	w.t.Helper()
	w.refresh()
	w.until("commit "+commit, func(a *v1alpha1.Application) bool {
		live := w.Service("production", service)
		return a.Operation == nil && a.Status.Sync.Revision == commit && a.Status.Sync.Status == v1alpha1.SyncStatusCodeSynced &&
			a.Status.Health.Status == "Healthy" && live != nil && live.IsReady()
	})
	return w.Service("production", service)
}

func show(value any) string {
	data, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// traffic prints what a Service's data path does.
func traffic(targets []servingv1.TrafficTarget) string {
	var parts []string
	for _, target := range targets {
		part := fmt.Sprintf("%s:%d", target.RevisionName, *target.Percent)
		if target.Tag != "" {
			part += ":" + target.Tag
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func (r *infra) head() string { return r.git("rev-parse", "HEAD") }

func (w *world) live() *servingv1.Service { return w.Service("production", service) }

func (w *world) routing() string { return traffic(w.Traffic("production", service)) }
