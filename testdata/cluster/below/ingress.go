package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	netv1alpha1 "knative.dev/networking/pkg/apis/networking/v1alpha1"
	"knative.dev/pkg/controller"
)

// ingress programs every KIngress, whatever its class, into the data path.
type ingress struct {
	cluster *cluster
	routes  *routes
}

func newIngress(ctx context.Context, c *cluster, r *routes) (*controller.Impl, error) {
	return follow(ctx, "ingress", &ingress{cluster: c, routes: r}, c.ingresses)
}

// Reconcile programs first and then says that the KIngress is ready, so that whoever sees it ready gets answers by it. A
// real ingress probes its proxies for the same reason. A conflict brings it back with the newer KIngress.
func (i *ingress) Reconcile(ctx context.Context, key string) error {
	object := i.cluster.ingress(key)
	if object == nil {
		i.routes.drop(key)
		return nil
	}
	i.routes.program(key, object.Spec.Rules)
	if object.IsReady() || object.DeletionTimestamp != nil {
		return nil
	}
	update := object.DeepCopy()
	markReady(update)
	_, err := i.cluster.networking.NetworkingV1alpha1().Ingresses(update.Namespace).UpdateStatus(ctx, update, metav1.UpdateOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("marking KIngress %s ready: %w", key, err)
	}
	return nil
}

// markReady writes the status that Knative's ingresses do.
// https://github.com/knative-extensions/net-istio/blob/knative-v1.15.1/pkg/reconciler/ingress/ingress.go (reconcileIngress)
func markReady(object *netv1alpha1.Ingress) {
	gateway := func(name string) []netv1alpha1.LoadBalancerIngressStatus {
		return []netv1alpha1.LoadBalancerIngressStatus{{DomainInternal: name + ".knative-ingress.svc.cluster.local"}}
	}
	object.Status.InitializeConditions()
	object.Status.MarkNetworkConfigured()
	object.Status.MarkLoadBalancerReady(gateway("public"), gateway("private"))
	object.Status.ObservedGeneration = object.Generation
}
