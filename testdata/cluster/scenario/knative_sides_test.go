//go:build cluster

package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/fake/argotest"
)

// A side is where a Service is: in Knative or in the model.
type side struct {
	name     string                                          // of the Service and of its namespace
	ingress  string                                          // host:port of the data path
	service  func() (*servingv1.Service, error)              // nil: it is not there
	revision func(name string) (*servingv1.Revision, error)  // nil: it is not there
	set      func(manifest *unstructured.Unstructured) error // gives a Service that is there another spec
	create   func(manifest *unstructured.Unstructured) error
	remove   func(resource schema.GroupVersionResource, name string) error
}

// apply makes the Service what it is to be.
func (s side) apply(t *testing.T, wanted *servingv1.Service) {
	t.Helper()
	live, err := s.service()
	if err != nil {
		t.Fatal(err)
	}
	manifest := asManifest(t, wanted)
	if live == nil {
		err = s.create(manifest)
	} else {
		err = s.set(manifest)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// collect deletes a revision, if it is there.
func (s side) collect(t *testing.T, name string) {
	t.Helper()
	if err := s.remove(revisions, name); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// delete deletes the Service, and waits until its revisions are gone too.
func (s side) delete(t *testing.T) {
	t.Helper()
	if err := s.remove(services, s.name); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if live, err := s.service(); err == nil && live == nil {
			return
		}
	}
	t.Fatal("the deleted Service stays")
}

// state is what there is to see of the Service and its revisions.
func (s side) state(t *testing.T, named []string) string {
	t.Helper()
	live, err := s.service()
	if err != nil || live == nil {
		return fmt.Sprintf("no Service: %v", err)
	}
	lines := []string{
		fmt.Sprintf("generation observed: %t, created %s, ready %s", live.Status.ObservedGeneration == live.Generation,
			live.Status.LatestCreatedRevisionName, live.Status.LatestReadyRevisionName),
		"traffic " + targetsOf(live.Status.Traffic),
	}
	for _, c := range live.Status.Conditions {
		lines = append(lines, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	for _, name := range named {
		lines = append(lines, name+": "+s.readiness(name))
	}
	for _, tag := range []string{"", "candidate-", "previous-"} {
		lines = append(lines, tag+"host: "+s.answers(t.Context(), tag))
	}
	return strings.Join(lines, "\n")
}

func (s side) readiness(name string) string {
	revision, err := s.revision(name)
	switch {
	case err != nil:
		return err.Error()
	case revision == nil:
		return "gone"
	}
	ready := revision.Status.GetCondition("Ready")
	if ready == nil {
		return "unknown"
	}
	return string(ready.Status)
}

// answers are who answers at a host, of so many requests that every share has some.
func (s side) answers(ctx context.Context, tag string) string {
	found := map[string]bool{}
	for range 12 {
		found[s.answer(ctx, tag+s.name+"."+s.name+".example.test")] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), ", ")
}

func (s side) answer(ctx context.Context, host string) string {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	a, err := requestAt(ctx, s.ingress, host)
	if err != nil {
		return "none"
	}
	if a.Status != http.StatusOK {
		return http.StatusText(a.Status)
	}
	return a.tag()
}

// inKnative is the side of a namespace of its own on the control plane.
func inKnative(t *testing.T, name string) side {
	t.Helper()
	namespaces := kube.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	if _, err := namespaces.Create(t.Context(), made, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	in := kube.Resource(services).Namespace(name)
	t.Cleanup(func() { _ = in.Delete(context.Background(), name, metav1.DeleteOptions{}) }) // another sequence may have
	return side{
		name: name, ingress: world.Ingress(),
		service: func() (*servingv1.Service, error) { return liveOne[servingv1.Service](t, services, name, name) },
		revision: func(revision string) (*servingv1.Revision, error) {
			return liveOne[servingv1.Revision](t, revisions, name, revision)
		},
		create: func(manifest *unstructured.Unstructured) error {
			_, err := in.Create(t.Context(), manifest, metav1.CreateOptions{})
			return err
		},
		set: func(manifest *unstructured.Unstructured) error {
			for {
				live, err := in.Get(t.Context(), name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				if err := respecify(live, manifest); err != nil {
					return err
				}
				if _, err = in.Update(t.Context(), live, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
					return err
				}
			}
		},
		remove: func(resource schema.GroupVersionResource, object string) error {
			options := metav1.DeleteOptions{} // as Knative collects revisions
			if resource == services {         // gone with all that it has made
				options.PropagationPolicy = new(metav1.DeletePropagationForeground)
			}
			return kube.Resource(resource).Namespace(name).Delete(t.Context(), object, options)
		},
	}
}

// respecify gives a live Service the traffic of a manifest, and the template where that
// has another name: the live one has Knative's defaults too, and a template is not
// changed under its name.
func respecify(live, manifest *unstructured.Unstructured) error {
	wanted := manifest.DeepCopy().Object["spec"].(map[string]any)
	name, _, err := unstructured.NestedString(live.Object, "spec", "template", "metadata", "name")
	if next, _, _ := unstructured.NestedString(wanted, "template", "metadata", "name"); err != nil || next == name {
		wanted["template"], _, err = unstructured.NestedMap(live.Object, "spec", "template")
	}
	live.Object["spec"] = wanted
	return err
}

// liveOne is an object in Kubernetes, or nil.
func liveOne[T any](t *testing.T, resource schema.GroupVersionResource, namespace, name string) (*T, error) {
	found, err := kube.Resource(resource).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	object := new(T)
	return object, runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, object)
}

// inModel is the side of a model.
func inModel(t *testing.T, server *argotest.Server, name string) side {
	return side{
		name: name, ingress: server.Ingress(),
		service:  func() (*servingv1.Service, error) { return server.Service(name, name), nil },
		revision: func(revision string) (*servingv1.Revision, error) { return server.Revision(name, revision), nil },
		create:   func(manifest *unstructured.Unstructured) error { return server.Apply(t.Context(), manifest) },
		set: func(manifest *unstructured.Unstructured) error {
			var unfit error
			return errors.Join(server.Edit(t.Context(), name, name, func(live *servingv1.Service) {
				object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
				unfit = errors.Join(err, respecify(&unstructured.Unstructured{Object: object}, manifest))
				changed := &servingv1.Service{}
				unfit = errors.Join(unfit, runtime.DefaultUnstructuredConverter.FromUnstructured(object, changed))
				live.Spec = changed.Spec
			}), unfit)
		},
		remove: func(resource schema.GroupVersionResource, object string) error {
			if resource == services {
				server.DeleteService(name, object)
			} else {
				server.DeleteRevision(name, object)
			}
			return nil
		},
	}
}
