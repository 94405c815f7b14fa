package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/kmap"
	"knative.dev/pkg/kmeta"
	"knative.dev/serving/pkg/apis/serving"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// reconcileService follows knative.dev/serving/pkg/reconciler/service.ReconcileKind.
func (r *reconciler) reconcileService(ctx context.Context, service *servingv1.Service) {
	before := service.DeepCopy()
	service.SetDefaults(ctx)
	begin(service)
	r.service(service)
	r.end(service, before)
	if live := r.write.services[keyOf(service)]; live == nil || live.Generation != before.Generation {
		return // a newer spec was applied meanwhile; the API server refuses the old version
	}
	service.Spec = before.Spec // defaulting is never written back
	store(r, r.write.services, service, before, false)
}

func (r *reconciler) service(service *servingv1.Service) {
	configuration := r.ownedConfiguration(service)
	if configuration.Generation != configuration.Status.ObservedGeneration {
		service.Status.MarkConfigurationNotReconciled()
		// With a name of the user's own, the Route waits for the Configuration.
		if configuration.Spec.Template.Name != "" {
			return
		}
	} else {
		service.Status.PropagateConfigurationStatus(&configuration.Status)
	}
	if _, taken := r.namedRevision(configuration); taken {
		service.Status.MarkRevisionNameTaken(configuration.Spec.Template.Name)
		return
	}
	route := r.ownedRoute(service)
	if route.Generation != route.Status.ObservedGeneration {
		service.Status.MarkRouteNotReconciled()
	} else {
		service.Status.PropagateRouteStatus(&route.Status)
	}
	checkMigrated(configuration, route, service)
}

// ownedConfiguration creates or updates the Service's Configuration.
func (r *reconciler) ownedConfiguration(service *servingv1.Service) *servingv1.Configuration {
	want := makeConfiguration(service)
	have := r.seen.configurations[keyOf(service)]
	if have == nil {
		if r.write.configurations[keyOf(service)] == nil {
			create(r, r.write.configurations, want)
		}
		return want
	}
	specChanged := !equality.Semantic.DeepEqual(want.Spec, have.Spec)
	updated := have.DeepCopy()
	updated.Spec, updated.Labels, updated.Annotations = want.Spec, want.Labels, want.Annotations
	store(r, r.write.configurations, updated, have, specChanged)
	return updated
}

// ownedRoute creates or updates the Service's Route.
func (r *reconciler) ownedRoute(service *servingv1.Service) *servingv1.Route {
	want := makeRoute(service)
	have := r.seen.routes[keyOf(service)]
	if have == nil {
		if r.write.routes[keyOf(service)] == nil {
			create(r, r.write.routes, want)
		}
		return want
	}
	specChanged := !equality.Semantic.DeepEqual(want.Spec, have.Spec)
	updated := have.DeepCopy()
	updated.Spec, updated.Labels, updated.Annotations = want.Spec, want.Labels, want.Annotations
	store(r, r.write.routes, updated, have, specChanged)
	return updated
}

// makeConfiguration is serving/pkg/reconciler/service/resources.MakeConfiguration, which cannot be
// imported without the controllers' informers.
func makeConfiguration(service *servingv1.Service) *servingv1.Configuration {
	exclude := append([]string{corev1.LastAppliedConfigAnnotation}, serving.RolloutDurationAnnotation...)
	annotations := kmap.ExcludeKeyList(service.GetAnnotations(), exclude)
	annotations[serving.RoutesAnnotationKey] = service.Name
	return &servingv1.Configuration{
		ObjectMeta: metav1.ObjectMeta{
			Name: service.Name, Namespace: service.Namespace,
			OwnerReferences: []metav1.OwnerReference{*kmeta.NewControllerRef(service)},
			Labels: kmeta.UnionMaps(service.GetLabels(), map[string]string{
				serving.ServiceLabelKey:    service.Name,
				serving.ServiceUIDLabelKey: string(service.UID),
			}),
			Annotations: annotations,
		},
		Spec: *service.Spec.ConfigurationSpec.DeepCopy(),
	}
}

// makeRoute is serving/pkg/reconciler/service/resources.MakeRoute.
func makeRoute(service *servingv1.Service) *servingv1.Route {
	route := &servingv1.Route{
		ObjectMeta: metav1.ObjectMeta{
			Name: service.Name, Namespace: service.Namespace,
			OwnerReferences: []metav1.OwnerReference{*kmeta.NewControllerRef(service)},
			Labels:          kmeta.UnionMaps(service.GetLabels(), map[string]string{serving.ServiceLabelKey: service.Name}),
			Annotations: kmeta.FilterMap(service.GetAnnotations(), func(key string) bool {
				return key == corev1.LastAppliedConfigAnnotation
			}),
		},
		Spec: *service.Spec.RouteSpec.DeepCopy(),
	}
	for i := range route.Spec.Traffic {
		if route.Spec.Traffic[i].RevisionName == "" {
			route.Spec.Traffic[i].ConfigurationName = service.Name
		}
	}
	return route
}

// checkMigrated is checkRoutesNotReady of Knative's service reconciler: a ready Route counts only
// when its status shows the wanted traffic.
func checkMigrated(configuration *servingv1.Configuration, route *servingv1.Route, service *servingv1.Service) {
	if !service.Status.GetCondition(servingv1.ServiceConditionRoutesReady).IsTrue() {
		return
	}
	want, got := cloneTraffic(route.Spec.Traffic), cloneTraffic(route.Status.Traffic)
	if len(want) != len(got) {
		service.Status.MarkRouteNotYetReady()
		return
	}
	for i := range want {
		if want[i].ConfigurationName == configuration.Name {
			want[i].RevisionName, want[i].ConfigurationName = configuration.Status.LatestReadyRevisionName, ""
		}
		for _, target := range []*servingv1.TrafficTarget{&want[i], &got[i]} {
			target.URL, target.LatestRevision = nil, nil
		}
		if !equality.Semantic.DeepEqual(want[i], got[i]) {
			service.Status.MarkRouteNotYetReady()
			return
		}
	}
}
