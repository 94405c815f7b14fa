package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"knative.dev/pkg/apis"
	"knative.dev/serving/pkg/apis/config"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	autoscalerconfig "knative.dev/serving/pkg/autoscaler/config"
)

// The API server's users: Argo CD's controller and a human with kubectl.
const (
	applier = "system:serviceaccount:argocd:argocd-application-controller"
	human   = "somebody@example.test"
)

// decode reads a Service as the API server does by its schema: fields that the schema does not have
// are dropped without a word, and ports get their protocol.
func decode(obj *unstructured.Unstructured) (*servingv1.Service, error) {
	service := &servingv1.Service{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, service); err != nil {
		return nil, fmt.Errorf("%s %q is invalid: %w", "Service.serving.knative.dev", obj.GetName(), err)
	}
	service.TypeMeta = metav1.TypeMeta{}
	for _, container := range service.Spec.Template.Spec.Containers {
		for i := range container.Ports {
			container.Ports[i].Protocol = cmp.Or(container.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	}
	return service, nil
}

// admit is Knative's webhooks: its own defaulting and validation of a Service that is created (old
// is nil) or updated by user. It returns the Service as it is stored.
func admit(ctx context.Context, user string, service, old *servingv1.Service) (*servingv1.Service, error) {
	ctx = apis.WithUserInfo(ctx, &authenticationv1.UserInfo{Username: user})
	scale, err := autoscalerconfig.NewConfigFromMap(map[string]string{"allow-zero-initial-scale": "true"})
	if err != nil {
		return nil, err
	}
	ctx = config.ToContext(ctx, &config.Config{Autoscaler: scale})
	if old == nil {
		ctx = apis.WithinCreate(ctx)
	} else {
		ctx = apis.WithinUpdate(ctx, old)
	}
	service.SetDefaults(ctx)
	if err := service.Validate(ctx).Filter(apis.ErrorLevel); err != nil {
		return nil, fmt.Errorf("admission webhook \"validation.webhook.serving.knative.dev\" denied the request: validation failed: %w", err)
	}
	return stored(service)
}

// stored is a Service as it comes back from storage: defaulting leaves empty maps in it that JSON
// does not have, and validation would take them for a change.
func stored(service *servingv1.Service) (*servingv1.Service, error) {
	data, err := json.Marshal(service)
	if err != nil {
		return nil, err
	}
	back := &servingv1.Service{}
	return back, json.Unmarshal(data, back)
}

// Limit has a policy of the cluster give each container without limits these from now on.
func (c *Cluster) Limit(limits corev1.ResourceList) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limits = limits
}

// complete is what that policy makes of a Service.
func (c *Cluster) complete(service *servingv1.Service) {
	for i := range service.Spec.Template.Spec.Containers {
		if resources := &service.Spec.Template.Spec.Containers[i].Resources; resources.Limits == nil {
			resources.Limits = c.limits.DeepCopy()
		}
	}
}

// Refuse has a policy of the cluster deny each Service with an image from now on.
func (c *Cluster) Refuse(image string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[image] = true
}

// denied is what the policy says of a Service.
func (c *Cluster) denied(service *servingv1.Service) error {
	for _, container := range service.Spec.Template.Spec.Containers {
		if c.refused[container.Image] {
			return fmt.Errorf("admission webhook \"validate.kyverno.svc-fail\" denied the request: policy Service/%s/%s for resource violation: image %s is not permitted", service.Namespace, service.Name, container.Image)
		}
	}
	return nil
}
