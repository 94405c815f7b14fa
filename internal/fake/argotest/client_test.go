package argotest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/fake/argotest"
)

// newClient is the product's own client of the server.
func (w *world) newClient(token string) *argo.Client {
	w.t.Helper()
	client, err := argo.New(argo.Config{Server: w.Addr(), Token: token, CA: w.CA()})
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

func source() argo.Source {
	return argo.Source{RepoURL: "https://git.example.test/infra.git", Branch: "main", Path: overlay}
}

// target is the Service that the tests promote.
func target() argo.Target {
	return argo.Target{App: argo.App{Name: app}, Source: source(), Service: service}
}

// intent is what a change that was committed intends.
func (w *world) intent(commit string, c change) argo.Intent {
	in := argo.Intent{
		Target: argo.Target{App: argo.App{Name: app, Project: "default"}, Source: source(), Service: service}, Commit: commit,
		Revision: c.revision, Images: []string{"ghcr.io/acme/" + service + ":" + c.tag},
	}
	for _, target := range strings.Fields(c.traffic) {
		name, rest, _ := strings.Cut(target, ":")
		percent, tag, _ := strings.Cut(rest, ":")
		traffic := servingv1.TrafficTarget{RevisionName: name, Tag: tag, LatestRevision: ptr(false), Percent: new(int64)}
		if _, err := fmt.Sscan(percent, traffic.Percent); err != nil {
			w.t.Fatal(err)
		}
		in.Traffic = append(in.Traffic, traffic)
	}
	in.Carries = func(_ context.Context, revision string) (bool, error) {
		if w.infra.ancestor(revision, commit) {
			return false, argo.ErrBehind
		}
		return false, nil
	}
	return in
}

// ancestor tells whether a is before b.
func (r *infra) ancestor(a, b string) bool {
	r.t.Helper()
	return a != b && r.git("merge-base", a, b) == a
}

// await waits with the product's client and returns its error.
func (w *world) await(in argo.Intent) error {
	w.t.Helper()
	_, err := w.newClient(token).Await(w.auth(), in, nil)
	return err
}

func TestClientPromotes(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	before, err := w.newClient(token).Live(w.auth(), target())
	if err != nil || before.Revision.Name != generated {
		t.Fatalf("before the promotion: %v, %v", before.Revision, err)
	}
	for _, split := range []string{
		generated + ":100 " + second + ":0:candidate",
		generated + ":50 " + second + ":50:candidate",
		second + ":100 " + generated + ":0:previous",
	} {
		c := change{tag: "v2.0.0", revision: second, defaults: true, traffic: split}
		if err := w.await(w.intent(w.infra.commit(c), c)); err != nil {
			t.Fatalf("%s: %v", split, err)
		}
		if got := w.routing(); got != split {
			t.Fatalf("live at %q, but the data path is %q", split, got)
		}
	}
}

func TestClientIsNotFooledByHealth(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *argotest.Config) { c.PullBackOff, c.ProgressDeadline = 5*time.Second, 20*time.Second })
	w.settled(w.infra.head())
	release := w.HoldKnative()
	broken := change{tag: "v2-broken", revision: second, defaults: true, traffic: generated + ":100 " + second + ":0:candidate"}
	in := w.intent(w.infra.commit(broken), broken)
	w.refresh()
	w.until("the naive waiter to be content", naive(in.Commit))
	verdict, _, err := w.newClient(token).Check(w.auth(), in)
	if err != nil || verdict.State != argo.Wait {
		t.Errorf("a commit that Knative has not seen is %v, %v; want a wait", verdict, err)
	}
	release()
	var failed *argo.FailedError
	if err := w.await(in); !errors.As(err, &failed) || !strings.Contains(failed.Reason, "ProgressDeadlineExceeded") {
		t.Errorf("a broken image ended with %v, want ProgressDeadlineExceeded", err)
	}

	restore := change{tag: "v1.0.0", revision: generated, defaults: true, traffic: generated + ":100"}
	if err := w.await(w.intent(w.infra.commit(restore), restore)); err != nil {
		t.Errorf("the restore: %v", err)
	}
}

func TestClientGetsPastARefusedCommit(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	good := change{tag: "v2.0.0", revision: second, defaults: true, traffic: second + ":100"}
	w.settled(w.infra.commit(good))
	bad := good
	bad.tag = "v3.0.0" // under the same revision name
	var failed *argo.FailedError
	if err := w.await(w.intent(w.infra.commit(bad), bad)); !errors.As(err, &failed) || !strings.Contains(failed.Reason, "without a name change") {
		t.Errorf("a refused commit ended with %v", err)
	}
	next := change{tag: "v3.0.0", revision: third, defaults: true, traffic: third + ":100"}
	if err := w.await(w.intent(w.infra.commit(next), next)); err != nil {
		t.Errorf("the commit behind the refused one: %v", err)
	}
}

func TestClientSyncsWhereNobodyElseDoes(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *argotest.Config) { c.Apps[0].AutoSync = false })
	in := w.intent(w.infra.head(), change{tag: "v1.0.0"})
	if err := w.await(in); err != nil {
		t.Error(err)
	}
}

func TestClientsErrors(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	live := func(token string, app argo.App, service string) error {
		_, err := w.newClient(token).Live(w.auth(), argo.Target{App: app, Source: source(), Service: service})
		return err
	}
	if err := live("a.b.c", argo.App{Name: app}, service); !errors.Is(err, argo.ErrAuth) {
		t.Errorf("a wrong token: %v", err)
	}
	if err := live(token, argo.App{Name: "nope"}, service); !errors.Is(err, argo.ErrNotFound) {
		t.Errorf("an unknown application: %v", err)
	}
	if err := live(token, argo.App{Name: "nope", Project: "default"}, service); !errors.Is(err, argo.ErrNotFound) {
		t.Errorf("an unknown application of a project: %v", err)
	}
	if err := live(token, argo.App{Name: app}, "nope"); !errors.Is(err, argo.ErrNotFound) {
		t.Errorf("an unknown service: %v", err)
	}
}
