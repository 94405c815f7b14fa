package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc/codes"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// argocd is what happens to Argo CD and the cluster:
//
//	argo login-page            every call is answered with HTML
//	argo fail N                the next N calls fail as unavailable
//	argo missing N             the next N questions for a live object find none, though the Application lists it
//	argo pause DURATION        calls are not answered for so long
//	argo settled               let Argo CD look at Git, and wait until the live Service is Ready as it is in the last commit
//	argo out-of-sync           let Argo CD look at Git and the cluster, and wait until they differ
//	argo revision NAME VERSION put the name of the revision with the image's tag into the environment
//	argo collect VERSION|NAME  garbage-collect that revision
//	argo crash VERSION         let its containers exit from now on
//	argo full VERSION          let the cluster take no further pod of it, while its own serve; argo room VERSION ends that
//	argo no-pod VERSION|NAME HOW  scale that revision to zero: it sleeps, is unasked, or has no-image to start from
//	argo refuse IMAGE          let a policy of the cluster deny each Service with the image
//	argo limit MEMORY          let a webhook of the cluster give that limit to each container that has none
//	argo hooks-fail IMAGE      let each hook with the image fail, before a sync and after it
//	argo traffic REVISION [SERVICE]  give that revision all traffic in the cluster, as somebody with kubectl does
//	argo label KEY VALUE       label the live Service, as somebody with kubectl does
//	argo rollback N [APP]      switch auto-sync off and sync what was synced N syncs before the last, as argocd app rollback does
//	argo dry-run               ask what a sync of the last commit would change, as argocd app sync --dry-run does
//	argo sync                  sync the last commit, as argocd app sync does
//	argo pods LOG EVENTS       let the pods of all revisions have written the file's lines, and have events with these
//	argo apply FILE            apply the manifest in the file, as somebody with kubectl does
//	argo delete                delete the live Service with its revisions
//	argo jobs N                wait until the cluster has N Jobs
//	argo edit FILE             merge the file into the Application
func argocd(ts *testscript.TestScript, w *world, args []string) {
	switch args[0] {
	case "login-page":
		w.mu.Lock()
		defer w.mu.Unlock()
		w.trouble = &trouble{host: "argocd", fault: "login page", at: "first", lasting: true}
	case "missing":
		w.lacking(ts, args[1])
	case "fail":
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		w.argo.Fail(codes.Unavailable, n)
	case "pause":
		d, err := time.ParseDuration(args[1])
		ts.Check(err)
		w.argo.Pause(d)
	case "settled":
		w.awaitSettled(ts)
	case "out-of-sync":
		w.argo.Refresh("the-app")
		ts.Check(w.await("the Application to be OutOfSync", func() bool {
			return w.argo.Application("the-app").Status.Sync.Status == v1alpha1.SyncStatusCodeOutOfSync
		}))
	case "revision":
		ts.Setenv(args[1], w.revisionOf(ts, args[2]))
	case "collect":
		if !w.argo.DeleteRevision(namespace, w.revisionOf(ts, args[1])) {
			ts.Fatalf("revision of %s is not there", args[1])
		}
	case "crash":
		if !w.argo.CrashRevision(namespace, w.revisionOf(ts, args[1])) {
			ts.Fatalf("revision of %s is not there", args[1])
		}
	case "full", "room":
		name := w.revisionOf(ts, args[1])
		if !w.argo.RefusePods(namespace, name, args[0] == "full") {
			ts.Fatalf("revision of %s is not there", args[1])
		}
		ts.Check(w.await("Knative to see it", func() bool { return w.argo.Revision(namespace, name).IsReady() == (args[0] == "room") }))
	case "no-pod":
		if !w.argo.ScaleToZero(namespace, w.revisionOf(ts, args[1]), args[2]) {
			ts.Fatalf("revision of %s is not there", args[1])
		}
	case "refuse":
		w.argo.RefuseImage(args[1])
	case "limit":
		ts.Check(w.argo.LimitMemory(args[1]))
	case "hooks-fail":
		w.argo.FailHooks(args[1])
	case "hooks-hang":
		w.argo.HangHooks(args[1])
	case "traffic":
		ts.Check(w.argo.Edit(context.Background(), namespace, append(args[2:], w.service)[0], func(s *servingv1.Service) {
			s.Spec.Traffic = []servingv1.TrafficTarget{{RevisionName: args[1], Percent: new(int64(100)), LatestRevision: new(false)}}
		}))
	case "label":
		ts.Check(w.argo.Edit(context.Background(), namespace, w.service, func(s *servingv1.Service) {
			s.Labels = map[string]string{args[1]: args[2], "app.kubernetes.io/instance": s.Labels["app.kubernetes.io/instance"]}
		}))
	case "rollback":
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		w.rollBackInArgoCD(ts, append(args[2:], "the-app")[0], n)
	case "sync", "dry-run":
		tip, err := gittest.Tip(w.bare, "main")
		ts.Check(err)
		w.syncByHand(ts, "the-app", tip, args[0] == "dry-run")
	case "pods":
		lines := func(file string) []string { return strings.Split(strings.TrimSpace(ts.ReadFile(file)), "\n") }
		w.argo.Pods(lines(args[1]), lines(args[2]))
	case "apply":
		manifest := &unstructured.Unstructured{}
		ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(args[1])), &manifest.Object))
		ts.Check(w.argo.Apply(context.Background(), manifest))
	case "delete":
		if !w.argo.DeleteService(namespace, w.service) {
			ts.Fatalf("there is no Service %s", w.service)
		}
	case "jobs":
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		ts.Check(w.await("", func() bool { return len(w.argo.Jobs(namespace)) == n }))
	case "edit":
		patch, err := yaml.YAMLToJSON([]byte(ts.ReadFile(args[1])))
		ts.Check(err)
		w.argo.EditApplication("the-app", func(app *v1alpha1.Application) { err = json.Unmarshal(patch, app) })
		ts.Check(err)
	default:
		ts.Fatalf("argo: unknown word %q", args[0])
	}
}

// rollBackInArgoCD syncs what the Application was synced to some syncs before the last one.
func (w *world) rollBackInArgoCD(ts *testscript.TestScript, application string, syncs int) {
	history := w.argo.Application(application).Status.History
	w.argo.EditApplication(application, func(app *v1alpha1.Application) { app.Spec.SyncPolicy.Automated = nil })
	w.syncByHand(ts, application, history[len(history)-1-syncs].Revision, false)
}

// syncByHand has Argo CD sync a commit, and waits for that.
func (w *world) syncByHand(ts *testscript.TestScript, application, commit string, dry bool) {
	w.argo.EditApplication(application, func(app *v1alpha1.Application) {
		app.Status.OperationState = nil
		app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Revision: commit, DryRun: dry, SyncStrategy: &v1alpha1.SyncStrategy{Apply: &v1alpha1.SyncStrategyApply{}}}}
	})
	ts.Check(w.await("Argo CD to sync "+commit, func() bool {
		operation := w.argo.Application(application).Status.OperationState
		return operation != nil && operation.SyncResult != nil && operation.SyncResult.Revision == commit && operation.Phase.Completed()
	}))
}

// awaitSettled waits until the world is settled, and has Argo CD look now and then: by itself it looks once a day in scripts, a run may
// be kept from asking, and a request that comes while it looks at an older commit is answered with that.
func (w *world) awaitSettled(ts *testscript.TestScript) {
	const every = 5 * time.Second
	asked := time.Time{}
	err := w.await("the Service to be Ready", func() bool {
		if time.Since(asked) > every {
			w.argo.Refresh("the-app")
			asked = time.Now()
		}
		return w.settled()
	})
	if err != nil {
		app := w.argo.Application("the-app")
		ts.Fatalf("%v: %+v; %+v; Service %+v", err, app.Status.Sync, app.Status.OperationState, w.argo.Service(namespace, w.service).Status)
	}
}

// settled tells whether Argo CD has synced the tip and the Service is Ready then.
func (w *world) settled() bool {
	tip, err := gittest.Tip(w.bare, "main")
	operation := w.argo.Application("the-app").Status.OperationState
	synced := err == nil && operation != nil && operation.SyncResult != nil && operation.SyncResult.Revision == tip && operation.Phase.Completed()
	live := w.argo.Service(namespace, w.service)
	return synced && live != nil && live.IsReady()
}

// lacking lets Argo CD's tree of live objects lack them for the next questions, as after a restart.
func (w *world) lacking(ts *testscript.TestScript, times string) {
	left, err := strconv.Atoi(times)
	ts.Check(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = &trouble{host: "argocd", at: "first", lasting: true, do: func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/GetResource") && left > 0 {
			left--
			trailer(nil, 5, "Service product-import not found as part of application the-app")(out, r, next)
			return
		}
		next.ServeHTTP(out, r)
	}}
}

// revisionOf is the revision in the present traffic whose image has the tag, or the one of that name.
func (w *world) revisionOf(ts *testscript.TestScript, version string) string {
	if strings.HasPrefix(version, w.service+"-") {
		return version
	}
	for _, target := range w.argo.Traffic(namespace, w.service) {
		if w.versionOf(target) == version {
			return target.RevisionName
		}
	}
	ts.Fatalf("no revision in the traffic has the version %s: %v", version, w.split())
	return ""
}
