package plane

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/acme/knative-promote/gitops/gittest"
)

// applications is where Argo CD's Applications are.
var applications = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}

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

// Deploy creates an Application and waits until Argo CD has it Synced and Healthy.
func (k *Kube) Deploy(ctx context.Context, app *unstructured.Unstructured) error {
	if err := k.applyObject(ctx, app); err != nil {
		return fmt.Errorf("creating Application %s: %w", app.GetName(), err)
	}
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	defer stop()
	for {
		now, err := k.Resource(applications).Namespace(app.GetNamespace()).Get(ctx, app.GetName(), metav1.GetOptions{})
		var sync, health string
		if err == nil {
			sync, _, _ = unstructured.NestedString(now.Object, "status", "sync", "status")
			health, _, _ = unstructured.NestedString(now.Object, "status", "health", "status")
		}
		if sync == "Synced" && health == "Healthy" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for Application %s to be Synced and Healthy: it is %s and %s (%v)", app.GetName(), sync, health, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
