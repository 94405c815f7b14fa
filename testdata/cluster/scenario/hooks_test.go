//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// TestHooks has a Job as a hook of each kind, which succeeds, fails or never
// ends with the new image, and what the run says and does. With the old image it
// succeeds.
func TestHooks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		hook, job string // when it runs, and what becomes of it
		image     string // of the Service
		code      int
		says      string
		ends      string // image that is live in the end
	}{
		{"PreSync", "good", "v2.0.0-good", 0, "", "v2.0.0-good"},
		{"PreSync", "failing", "v2.0.0-failing", 8, "one or more synchronization tasks completed unsuccessfully", "v1.0.0"},
		{"PreSync", "endless", "v2.0.0-endless", 8, "not live after 40s", "v1.0.0"},
		{"PostSync", "good", "v2.0.0-good", 0, "", "v2.0.0-good"},
		{"PostSync", "failing", "v2.0.0-failing", 8, "one or more synchronization tasks completed unsuccessfully", "v1.0.0"},
		{"PostSync", "endless", "v2.0.0-endless", 8, "not live after 40s", "v1.0.0"},
		{"SyncFail", "good", "v2.0.0-broken", 8, "", "v1.0.0"},
		{"SyncFail", "failing", "v2.0.0-broken", 8, "", "v1.0.0"},
		{"SyncFail", "endless", "v2.0.0-broken", 8, "", "v1.0.0"},
	} {
		t.Run(strings.ToLower(test.hook)+"-"+test.job, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, hook(t, test.hook), func(l *layout) { go endJobs(t.Context(), l.Service, endOf) })
			r := s.promote(test.image, "steps=50,100", "wait-timeout=40s").exits(test.code)
			r.says(test.says)
			s.settled(test.ends)
		})
	}
}

// A migration that runs the Service's image before each sync fails where it is older than the
// database, or never ends, and for an object of a kind that the cluster does not have Argo CD
// applies nothing: the Service alone is synced then. A smoke test that fails after each sync keeps
// no rollback from being one.
func TestRollbackBesideAHook(t *testing.T) {
	t.Parallel()
	t.Run("migration", func(t *testing.T) {
		t.Parallel()
		var newest atomic.Bool
		s := newSite(t, hook(t, "PreSync"), func(l *layout) { go endJobs(t.Context(), l.Service, migrated(&newest)) })
		s.promote("v2.0.0", "steps=100").exits(0)
		s.begin("rollback").wait().exits(0).says("the Service alone was synced, as a sync of all does not come to it")
		s.answersOnly("v1.0.0")
		s.promote("v3.0.0", "steps=100").exits(0)
		s.settled("v3.0.0")
	})
	t.Run("restore", func(t *testing.T) {
		t.Parallel()
		var newest atomic.Bool
		s := newSite(t, hook(t, "PreSync"), func(l *layout) { go endJobs(t.Context(), l.Service, migrated(&newest)) })
		s.promote("v2.0.0-broken", "steps=50,100").exits(8).says("the Service alone was synced, as a sync of all does not come to it")
		s.answersOnly("v1.0.0")
	})
	t.Run("endless", func(t *testing.T) {
		t.Parallel()
		var ends atomic.Bool
		ends.Store(true)
		s := newSite(t, hook(t, "PreSync"), func(l *layout) {
			go endJobs(t.Context(), l.Service, func(job unstructured.Unstructured) string {
				if !ends.Load() {
					return ""
				}
				return endOf(job)
			})
		})
		s.promote("v2.0.0", "steps=100").exits(0)
		ends.Store(false)
		s.begin("rollback").wait().exits(0).says("the Service alone was synced, as a sync of all does not come to it: waiting for completion of hook batch/Job/smoke-test")
		s.answersOnly("v1.0.0")
	})
	t.Run("unknown-kind", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.promote("v2.0.0", "steps=100").exits(0)
		s.push("Monitor it", map[string]string{
			"./kustomization.yaml": replaced(t, s.read("./kustomization.yaml"), "- ../../base", "- ../../base\n  - monitor.yaml"),
			"./monitor.yaml":       "apiVersion: monitoring.example.com/v1\nkind: ServiceMonitor\nmetadata: {name: app}\n",
		})
		s.begin("rollback").wait().exits(0).says("the Service alone was synced, as a sync of all does not come to it")
		s.answersOnly("v1.0.0")
	})
	t.Run("smoke-test", func(t *testing.T) {
		t.Parallel()
		var fails atomic.Bool
		ends := func(job unstructured.Unstructured) string {
			if fails.Load() {
				job = *job.DeepCopy()
				unstructured.SetNestedSlice(job.Object, []any{"failing"}, "spec", "template", "spec", "containers")
			}
			return endOf(job)
		}
		s := newSite(t, hook(t, "PostSync"), func(l *layout) { go endJobs(t.Context(), l.Service, ends) })
		s.promote("v2.0.0", "steps=100").exits(0)
		fails.Store(true)
		s.begin("rollback").wait().exits(0)
		s.answersOnly("v1.0.0")
	})
}

// A policy of the cluster comes to deny the image that users had, so Argo CD cannot apply the
// template of a rollback, nor the Service alone: the traffic alone moves users.
func TestRollbackPastAPolicy(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	s.deny("v1.0.0")
	s.begin("rollback").wait().exits(0).says("committed once more, with the traffic alone", "could not be rolled back, only the traffic")
	s.answersOnly("v1.0.0")
	s.promote("v3.0.0", "steps=100").exits(0)
	s.settled("v3.0.0")
}

// deny lets the API server deny each Service of the namespace with an image's tag from now on.
func (s *site) deny(tag string) {
	s.Helper()
	name := "deny-" + s.App.GetName()
	policy := &unstructured.Unstructured{}
	s.must(yaml.Unmarshal(fmt.Appendf(nil, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: %s}, spec: {
  matchConstraints: {
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}},
    resourceRules: [{apiGroups: [serving.knative.dev], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [services]}]},
  validations: [{expression: 'object.spec.template.spec.containers.all(c, !c.image.endsWith(":%s"))', message: this image may not run any more}]}}`,
		name, s.Service, tag), policy))
	allows := binding(name)
	allows.SetName(name)
	for _, o := range []*unstructured.Unstructured{policy, allows} {
		s.must(kube.In(s.Service).Apply(s.Context(), manifestOf(s.T, o)))
	}
	s.Cleanup(func() { // the policy may go on in the next run on the same plane otherwise
		for _, resource := range []string{"validatingadmissionpolicybindings", "validatingadmissionpolicies"} {
			kube.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}).Delete(context.Background(), name, metav1.DeleteOptions{})
		}
	})
	s.eventually("the API server denies it", func() bool {
		live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": map[string]any{"name": "probe"},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": "ghcr.io/acme/app:" + tag}}}}}}}
		return kube.In(s.Service).DryRun(s.Context(), live) != nil
	})
}

// migrated ends a migration as one that knows no newer database than its own: v1 fails once v2 has run.
func migrated(newest *atomic.Bool) func(unstructured.Unstructured) string {
	return func(job unstructured.Unstructured) string {
		containers, _, _ := unstructured.NestedSlice(job.Object, "spec", "template", "spec", "containers")
		if image := fmt.Sprint(containers); !strings.Contains(image, ":v1.0.0") {
			newest.Store(true)
		} else if newest.Load() {
			unstructured.SetNestedSlice(job.Object, []any{"failing"}, "spec", "template", "spec", "containers")
		}
		return endOf(job)
	}
}

// hook adds a Job that runs the Service's image at a moment of a sync.
func hook(t *testing.T, when string) func(*layout) {
	return func(l *layout) {
		beside(t, fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata:
  name: smoke-test
  annotations: {argocd.argoproj.io/hook: %s, argocd.argoproj.io/hook-delete-policy: BeforeHookCreation}
spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: test, image: ghcr.io/acme/app}]}}}
`, when))(l)
	}
}

// endJobs stands in for the controller of Jobs: after two seconds each one has
// become what its image says.
func endJobs(ctx context.Context, namespace string, endOf func(unstructured.Unstructured) string) {
	jobs := kube.Resource(schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}).Namespace(namespace)
	for ; ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		list, err := jobs.List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for _, job := range list.Items {
			if end := endOf(job); end != "" && time.Since(job.GetCreationTimestamp().Time) >= 2*time.Second {
				jobs.Patch(ctx, job.GetName(), types.MergePatchType, []byte(end), metav1.PatchOptions{}, "status")
			}
		}
	}
}

// endOf is the status of a Job that has ended; empty: it does not end.
func endOf(job unstructured.Unstructured) string {
	containers, _, _ := unstructured.NestedSlice(job.Object, "spec", "template", "spec", "containers")
	image := fmt.Sprint(containers)
	now := time.Now().UTC().Format(time.RFC3339)
	switch {
	case strings.Contains(image, "endless"):
		return ""
	case strings.Contains(image, "failing"):
		return fmt.Sprintf(`{"status": {"failed": 1, "startTime": %[1]q, "conditions": [
			{"type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded", "lastTransitionTime": %[1]q},
			{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit", "lastTransitionTime": %[1]q}]}}`, now)
	}
	return fmt.Sprintf(`{"status": {"succeeded": 1, "startTime": %[1]q, "completionTime": %[1]q, "conditions": [
		{"type": "SuccessCriteriaMet", "status": "True", "lastTransitionTime": %[1]q},
		{"type": "Complete", "status": "True", "lastTransitionTime": %[1]q}]}}`, now)
}
