package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	netv1alpha1 "knative.dev/networking/pkg/apis/networking/v1alpha1"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	configmapinformer "knative.dev/pkg/configmap/informer"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	"knative.dev/pkg/webhook/resourcesemantics"
	"knative.dev/pkg/webhook/resourcesemantics/defaulting"
	"knative.dev/pkg/webhook/resourcesemantics/validation"
	autoscalingv1alpha1 "knative.dev/serving/pkg/apis/autoscaling/v1alpha1"
	apisconfig "knative.dev/serving/pkg/apis/config"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	servingv1beta1 "knative.dev/serving/pkg/apis/serving/v1beta1"
	extravalidation "knative.dev/serving/pkg/webhook"
)

// startAdmission serves Knative's own webhook over TLS with a certificate of its own. The CA is written last, so that
// whoever waits for the file can register the webhook at once.
func startAdmission(ctx context.Context, group *errgroup.Group, config *rest.Config, o options) error {
	pair, err := certificate(o.cert)
	if err != nil {
		return err
	}
	handler, err := newAdmission(ctx, config, o.namespace)
	if err != nil {
		return err
	}
	security := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	if err := serve(ctx, group, endpoint{name: "admission", address: o.admission, handler: handler, tls: security}); err != nil {
		return err
	}
	return writeCA(o.cert, pair)
}

// newAdmission is what knative.dev/serving/cmd/webhook puts together, but for the parts that need an in-cluster Service:
// the controllers that keep its certificate and its registration.
func newAdmission(ctx context.Context, config *rest.Config, namespace string) (http.Handler, error) {
	if err := os.Setenv(system.NamespaceEnvKey, namespace); err != nil { // Knative's libraries read it from there.
		return nil, fmt.Errorf("setting %s: %w", system.NamespaceEnvKey, err)
	}
	ctx = logging.WithLogger(ctx, quiet(ctx))
	ctx = webhook.WithOptions(ctx, webhook.Options{})
	ctx, _ = injection.Default.SetupInformers(ctx, config) // Never started: only the controllers left out read them.

	store := apisconfig.NewStore(logging.FromContext(ctx))
	configMaps := configmapinformer.NewInformedWatcher(kubeclient.Get(ctx), namespace)
	store.WatchConfigs(configMaps)
	if err := configMaps.Start(ctx.Done()); err != nil {
		return nil, fmt.Errorf("reading Knative's ConfigMaps in namespace %s: %w", namespace, err)
	}
	const disallowUnknownFields = false // As in the real webhook: the schemas of the CRDs prune them.
	mutate := defaulting.NewAdmissionController(ctx, "webhook.serving.knative.dev", "/mutate", kinds(), store.ToContext, disallowUnknownFields)
	validate := validation.NewAdmissionController(ctx, "validation.webhook.serving.knative.dev", "/validate", kinds(), store.ToContext, disallowUnknownFields, callbacks())
	handler, err := webhook.New(ctx, []any{mutate.Reconciler, validate.Reconciler})
	if err != nil {
		return nil, fmt.Errorf("making Knative's webhook: %w", err)
	}
	return handler, nil
}

// kinds are those that the real webhook defaults and validates.
func kinds() map[schema.GroupVersionKind]resourcesemantics.GenericCRD {
	return map[schema.GroupVersionKind]resourcesemantics.GenericCRD{
		servingv1.SchemeGroupVersion.WithKind("Revision"):      &servingv1.Revision{},
		servingv1.SchemeGroupVersion.WithKind("Configuration"): &servingv1.Configuration{},
		servingv1.SchemeGroupVersion.WithKind("Route"):         &servingv1.Route{},
		servingv1.SchemeGroupVersion.WithKind("Service"):       &servingv1.Service{},

		servingv1beta1.SchemeGroupVersion.WithKind("DomainMapping"): &servingv1beta1.DomainMapping{},

		autoscalingv1alpha1.SchemeGroupVersion.WithKind("PodAutoscaler"): &autoscalingv1alpha1.PodAutoscaler{},
		autoscalingv1alpha1.SchemeGroupVersion.WithKind("Metric"):        &autoscalingv1alpha1.Metric{},

		netv1alpha1.SchemeGroupVersion.WithKind("Certificate"):       &netv1alpha1.Certificate{},
		netv1alpha1.SchemeGroupVersion.WithKind("Ingress"):           &netv1alpha1.Ingress{},
		netv1alpha1.SchemeGroupVersion.WithKind("ServerlessService"): &netv1alpha1.ServerlessService{},
	}
}

// callbacks are the real webhook's: they create the pod of a Service with dry-run, if the Service or the request asks for it.
func callbacks() map[schema.GroupVersionKind]validation.Callback {
	return map[schema.GroupVersionKind]validation.Callback{
		servingv1.SchemeGroupVersion.WithKind("Service"):       validation.NewCallback(extravalidation.ValidateService, webhook.Create, webhook.Update),
		servingv1.SchemeGroupVersion.WithKind("Configuration"): validation.NewCallback(extravalidation.ValidateConfiguration, webhook.Create, webhook.Update),
	}
}
