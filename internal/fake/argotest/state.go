package argotest

import (
	"context"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

// Addr returns host:port of the API.
func (s *Server) Addr() string { return s.api.Addr().String() }

// CA returns the PEM certificate that the API's certificate is checked with.
func (s *Server) CA() []byte { return append([]byte(nil), s.ca...) }

// Ingress returns host:port of the data path, which routes by the Host header.
func (s *Server) Ingress() string { return s.data.Addr().String() }

// Application returns the Application as it is stored, or nil.
func (s *Server) Application(name string) *v1alpha1.Application {
	if app := s.app(name); app != nil {
		return app.get()
	}
	return nil
}

// Service returns a copy of the live Service, or nil when there is none.
func (s *Server) Service(namespace, name string) *servingv1.Service {
	return s.cluster.Service(namespace, name)
}

// Traffic returns what the data path of a Service does now, whatever statuses say.
func (s *Server) Traffic(namespace, name string) []servingv1.TrafficTarget {
	return s.cluster.Routing(namespace, name)
}

// Revision returns a copy of the live Revision, or nil when there is none.
func (s *Server) Revision(namespace, name string) *servingv1.Revision {
	return s.cluster.Revision(namespace, name)
}

// WasReady returns the names of all revisions that a Service has had, and whether each has been
// Ready, whatever has become of it since.
func (s *Server) WasReady(namespace, service string) map[string]bool {
	return s.cluster.WasReady(namespace, service)
}

// Edit changes a live Service as a human with kubectl does: through Knative's admission, and
// unknown to Git.
func (s *Server) Edit(ctx context.Context, namespace, name string, change func(*servingv1.Service)) error {
	return s.cluster.Edit(ctx, namespace, name, change)
}

// Apply applies a manifest to the cluster as somebody with kubectl does.
func (s *Server) Apply(ctx context.Context, manifest *unstructured.Unstructured) error {
	_, err := s.cluster.Apply(ctx, manifest)
	return err
}

// EditApplication changes an Application as a human with kubectl does, and reports whether it is
// there.
func (s *Server) EditApplication(name string, change func(*v1alpha1.Application)) bool {
	app := s.app(name)
	if app == nil {
		return false
	}
	// The change cannot fail.
	_, _ = app.update(func(app *v1alpha1.Application) error {
		change(app)
		return nil
	})
	return true
}

// Refresh has an Application compared with Git soon, as `argocd app get --refresh` does.
func (s *Server) Refresh(name string) {
	s.EditApplication(name, func(app *v1alpha1.Application) {
		metav1.SetMetaDataAnnotation(&app.ObjectMeta, v1alpha1.AnnotationKeyRefresh, string(v1alpha1.RefreshTypeNormal))
	})
}

// app is the Application of that name, or nil.
func (s *Server) app(name string) *stored {
	for _, app := range s.apps {
		if app.get().Name == name {
			return app
		}
	}
	return nil
}

// DeleteRevision removes a Revision as Knative's garbage collection does, and reports whether it
// was there.
func (s *Server) DeleteRevision(namespace, name string) bool {
	return s.cluster.Delete(cluster.Ref{Group: "serving.knative.dev", Kind: "Revision", Namespace: namespace, Name: name})
}

// DeleteService deletes a live Service with its revisions, and reports whether it was
// there.
func (s *Server) DeleteService(namespace, name string) bool {
	return s.cluster.Delete(cluster.Ref{Group: "serving.knative.dev", Kind: "Service", Namespace: namespace, Name: name})
}

// CrashRevision lets the containers of a Revision exit from now on, and reports whether it is there.
func (s *Server) CrashRevision(namespace, name string) bool { return s.cluster.Crash(namespace, name) }

// RefusePods has the cluster take no further pod of a Revision, or take it again, and reports whether the Revision is there.
func (s *Server) RefusePods(namespace, name string, refuse bool) bool {
	return s.cluster.Fill(namespace, name, refuse)
}

// ScaleToZero takes the pods of a Revision, and reports whether it is there: one starts with its
// share of the traffic ("sleeps"), nobody asks for one ("unasked"), or its image is gone ("no-image").
func (s *Server) ScaleToZero(namespace, name, how string) bool {
	return s.cluster.ScaleToZero(namespace, name, cluster.NoPod(how))
}

// RefuseImage has a policy of the cluster deny each Service with an image from now on.
func (s *Server) RefuseImage(image string) { s.cluster.Refuse(image) }

// LimitMemory has a policy of the cluster give each container of a Service without limits this one
// from now on, as an admission webhook does.
func (s *Server) LimitMemory(limit string) error {
	memory, err := resource.ParseQuantity(limit)
	if err == nil {
		s.cluster.Limit(corev1.ResourceList{corev1.ResourceMemory: memory})
	}
	return err
}

// FailHooks has each hook before and after a sync that has an image fail from now on.
func (s *Server) FailHooks(image string) { s.cluster.EndHooks(image, cluster.HookFails) }

// HangHooks has each of them never end.
func (s *Server) HangHooks(image string) { s.cluster.EndHooks(image, cluster.HookHangs) }

// Jobs are the names of the Jobs of a namespace.
func (s *Server) Jobs(namespace string) []string {
	var names []string
	for _, live := range s.cluster.List() {
		if live.GetKind() == "Job" && live.GetNamespace() == namespace {
			names = append(names, live.GetName())
		}
	}
	return names
}

// HoldKnative stops Knative's controllers until release is called. What is synced meanwhile stays
// unobserved, so Argo CD goes on reporting the health of the generation before.
func (s *Server) HoldKnative() (release func()) { return s.cluster.Hold() }
