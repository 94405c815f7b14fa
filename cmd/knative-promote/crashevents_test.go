package main

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/fake/promotetest"
	"github.com/acme/knative-promote/internal/httpx"
)

// TestCrashEvents lets the cluster, or people, do something at the points of a run,
// and interrupts that there or not: revisions begin to crash or are collected, the Service
// and its revisions are made anew, somebody tags a revision, rolls back in the cluster,
// or takes the Service out. With -more each of these happens at one point, and without
// a sample of them.
//
// However the run ends, it keeps the promises, and a rollback, or what the program
// says instead, leads to a Service whose users are answered by the revisions that Git
// names.
func TestCrashEvents(t *testing.T) {
	t.Parallel()
	c := crashCase{
		before: []string{"promote", "--image", "ghcr.io/acme/product-import:v1.5.0", "--keep-previous"},
		args:   []string{"promote", "--image", "ghcr.io/acme/product-import:v2.0.0", "--keep-previous", "--steps", "10@100ms,100", "--wait-timeout", "40s"},
	}
	points, count := c.whole(t).points, 0
	events := clusterEvents()
	for n, e := range events {
		for i, point := range points {
			if !*all && (i != (n*7+3)%len(points) || n%oneOf(8, 1) != 0) {
				continue
			}
			count++
			t.Run(e.kind+"/"+point, func(t *testing.T) {
				t.Parallel()
				c.befall(t, e, point, i%2 == 0)
			})
		}
	}
	t.Cleanup(func() {
		t.Logf("reliability: %d kinds of events of the cluster and of people, at %d points of a run: %d runs, after each users are answered, or are after the next command", len(events), len(points), count)
	})
}

// A clusterEvent is done with the lock held. It tells whether it could happen.
type clusterEvent struct {
	kind string
	do   func(*world) bool
}

func clusterEvents() (all []clusterEvent) {
	for _, role := range []string{"new", "old", "kept"} {
		all = append(all,
			clusterEvent{role + " crashes", func(w *world) bool { return w.argo.CrashRevision(namespace, w.inRole(role)) }},
			clusterEvent{role + " is collected", func(w *world) bool { return w.argo.DeleteRevision(namespace, w.inRole(role)) }})
	}
	return append(all,
		clusterEvent{"made anew", func(w *world) bool { return w.argo.DeleteService(namespace, w.service) }},
		clusterEvent{"tagged", (*world).tagRevision},
		clusterEvent{"rolled back in the cluster", (*world).rollBackInCluster},
		clusterEvent{"taken out", (*world).takeOut},
	)
}

// inRole is a revision of the live traffic: the new one is the template's, the old one
// has a share besides, the kept one has none.
func (w *world) inRole(role string) string {
	live := w.argo.Service(namespace, w.service)
	if live == nil {
		return ""
	}
	for _, target := range w.argo.Traffic(namespace, w.service) {
		is := "kept"
		switch {
		case target.RevisionName == live.Spec.Template.Name:
			is = "new"
		case knative.Percent(target) > 0:
			is = "old"
		}
		if is == role {
			return target.RevisionName
		}
	}
	return ""
}

// tagRevision has somebody tag the kept revision, or the new one, in Git.
func (w *world) tagRevision() bool {
	own := w.path + "/knative-promote-" + w.service + ".yaml"
	files, err := promotetest.Files(w.bare, "main")
	name := max(w.inRole("kept"), w.inRole("new"))
	if err != nil || files[own] == nil || name == "" {
		return false
	}
	target := fmt.Sprintf("    - revisionName: %s\n      percent: 0\n      latestRevision: false\n      tag: blue\n", name)
	return w.commit("Tag a revision", map[string]string{own: string(files[own].Data) + target}) == nil
}

// rollBackInCluster switches auto-sync off and gives the old revision all traffic, past Git.
func (w *world) rollBackInCluster() bool {
	old := w.inRole("old")
	if old == "" {
		old = w.inRole("kept")
	}
	w.argo.EditApplication("the-app", func(app *v1alpha1.Application) { app.Spec.SyncPolicy.Automated = nil })
	err := w.argo.Edit(context.Background(), namespace, w.service, func(s *servingv1.Service) {
		s.Spec.Traffic = []servingv1.TrafficTarget{{RevisionName: old, Percent: new(int64(100)), LatestRevision: new(false)}}
	})
	return old != "" && err == nil
}

// takeOut has somebody take the Service out of the overlay.
func (w *world) takeOut() bool {
	return w.commit("Take the Service out", map[string]string{
		w.path + "/kustomization.yaml": "namespace: production\nresources:\n  - left.yaml\n",
		w.path + "/left.yaml":          "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: left\n",
	}) == nil
}

// putIn has somebody bring back the overlay that had the Service, where that was taken out.
func (w *world) putIn(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	file := w.path + "/kustomization.yaml"
	for commit := "main"; ; commit += "~" {
		files, err := promotetest.Files(w.bare, commit)
		if err != nil {
			t.Fatal(err)
		}
		text := string(files[file].Data)
		if !strings.Contains(text, "left.yaml") {
			if commit != "main" {
				err = w.commit("Put the Service in again", map[string]string{file: text})
			}
			if err != nil {
				t.Fatal(err)
			}
			return
		}
	}
}

// befall runs a promotion in which the event happens at the point.
func (c crashCase) befall(t *testing.T, e clusterEvent, point string, ended bool) {
	w := c.world(t)
	reached, happened, seen := false, false, 0
	w.eventAt(point, func() {
		p := w.runs[len(w.runs)-1]
		reached, happened, seen = true, e.do(w), len(p.out.String())
		if ended {
			p.interrupt()
		}
	})
	code, out := w.program(t, []string{"CRASH_AT=" + point, "CRASH_HOW=EVENT"}, c.args)
	if !reached || !happened && !*all {
		t.Fatalf("at %q it did not happen:\n%s", point, out)
	}
	_, later, _ := strings.Cut(out[min(seen, len(out)):], "\n") // the point may be a line itself
	if code == "0" && strings.Contains(later, "live: passed") {
		if err := w.answers(); err != nil {
			t.Errorf("the run ended well, and %v:\n%s", err, out)
		}
	}
	w.settle()
	w.putIn(t)
	if said := w.leadOut(t); t.Failed() {
		t.Logf("%s\n%s", out, said)
	}
	if _, err := w.checkPromises(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// eventAt does something when the newest program comes to a point, once.
func (w *world) eventAt(point string, do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pushes, w.written, w.asked = 0, 0, map[string]int{}
	w.atLine = do
	w.atPoint = func(at string) bool {
		if at == point {
			w.atPoint = nil
			do()
		}
		return false
	}
}

var toRevision = regexp.MustCompile(`rollback --to (\S+-[0-9a-f]+)`)

// leadOut rolls back, or does what the program says instead, and fails unless users
// are answered then.
func (w *world) leadOut(t *testing.T) (said string) {
	t.Helper()
	args, code := []string{"rollback"}, ""
	for n := range 3 {
		var out string
		code, out = w.program(t, []string{fmt.Sprintf("GITHUB_RUN_ID=%d", 2000+n)}, args)
		said += fmt.Sprintf("$ %s\n%s", strings.Join(args, " "), out)
		if code == "0" {
			break
		}
		args = []string{"promote", "--image", "ghcr.io/acme/product-import:v9.0.0"}
		if to := toRevision.FindStringSubmatch(out); to != nil {
			args = []string{"rollback", "--to", to[1]}
		}
	}
	if code != "0" {
		t.Errorf("no command leads out, the last ended with %s", code)
	}
	if err := w.answers(); err != nil {
		t.Error(err)
	}
	return said
}

// answers is what is wrong with what users are answered, once Knative has routed what
// Git says.
func (w *world) answers() error {
	err := w.await("a Service that is routed", func() bool {
		live := w.argo.Service(namespace, w.service)
		return live != nil && live.Generation == live.Status.ObservedGeneration && live.Status.GetCondition(servingv1.ServiceConditionRoutesReady).IsTrue()
	})
	if err != nil {
		return fmt.Errorf("%w: the data path does %v", err, w.split())
	}
	host := w.argo.Service(namespace, w.service).Status.URL.Host
	for range 20 {
		request, err := http.NewRequest(http.MethodGet, "http://"+w.argo.Ingress(), nil)
		if err != nil {
			return err
		}
		request.Host = host
		answer, err := (&http.Client{Transport: httpx.Default()}).Do(request)
		if err != nil {
			return err
		}
		_ = answer.Body.Close() // the status is all that counts
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("a user is answered with %s, the data path does %v", answer.Status, w.split())
		}
	}
	return nil
}
