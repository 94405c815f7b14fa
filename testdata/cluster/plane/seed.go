package plane

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// Where Argo CD's Applications are, and Knative's Services.
var (
	Applications = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
	Services     = schema.GroupVersionResource{Group: "serving.knative.dev", Version: "v1", Resource: "services"}
)

// Repository makes a bare repository NAME.git on the Git server and returns
// its URL.
func (p *Plane) Repository(name string, content fs.FS) (string, error) {
	_, err := gittest.Repository{}.Init(p.Repositories(), name+".git", content)
	return p.GitURL() + "/" + name + ".git", err
}

// Application is an automated Application of Argo CD for one overlay, into a
// namespace named as the overlay's folder unless another is given.
func Application(name, repository, overlay, namespace string) *unstructured.Unstructured {
	if namespace == "" {
		namespace = path.Base(overlay)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1",
		"kind":       "Application",
		"metadata":   map[string]any{"name": name, "namespace": "argocd"},
		"spec": map[string]any{
			"project":     "default",
			"source":      map[string]any{"repoURL": repository, "targetRevision": "main", "path": overlay},
			"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": namespace},
			"syncPolicy": map[string]any{
				"automated":   map[string]any{"prune": true, "selfHeal": true},
				"syncOptions": []any{"CreateNamespace=true"},
			},
		},
	}}
}

// Deploy creates an Application and waits until Argo CD has it Synced and
// Healthy and the Knative Services of its namespace are ready: Argo CD calls a
// Service healthy that Knative has not looked at yet.
func (k *Kube) Deploy(ctx context.Context, app *unstructured.Unstructured) error {
	if err := k.applyObject(ctx, app, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("creating Application %s: %w", app.GetName(), err)
	}
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute)
	defer stop()
	for {
		err := k.deployed(ctx, app)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for Application %s: %w", app.GetName(), err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// deployed tells what an Application still lacks.
func (k *Kube) deployed(ctx context.Context, app *unstructured.Unstructured) error {
	now, err := k.Resource(Applications).Namespace(app.GetNamespace()).Get(ctx, app.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	sync, _, _ := unstructured.NestedString(now.Object, "status", "sync", "status")
	health, _, _ := unstructured.NestedString(now.Object, "status", "health", "status")
	if sync != "Synced" || health != "Healthy" {
		return fmt.Errorf("it is %q and %q, want Synced and Healthy", sync, health)
	}
	namespace, _, _ := unstructured.NestedString(now.Object, "spec", "destination", "namespace")
	found, err := k.Resource(Services).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range found.Items {
		if err := ready(&found.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// ready tells why a Knative Service is not ready as it is now.
func ready(object *unstructured.Unstructured) error {
	var service servingv1.Service
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &service); err != nil {
		return err
	}
	if !service.IsReady() {
		return fmt.Errorf("the Service %s is not ready: %+v", service.Name, service.Status.Conditions)
	}
	return nil
}
