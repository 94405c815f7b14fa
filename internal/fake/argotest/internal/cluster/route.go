package cluster

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"
	netv1alpha1 "knative.dev/networking/pkg/apis/networking/v1alpha1"
	netcfg "knative.dev/networking/pkg/config"
	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	listers "knative.dev/serving/pkg/client/listers/serving/v1"
	routecfg "knative.dev/serving/pkg/reconciler/route/config"
	"knative.dev/serving/pkg/reconciler/route/domains"
	"knative.dev/serving/pkg/reconciler/route/traffic"
)

// reconcileRoute follows knative.dev/serving/pkg/reconciler/route.ReconcileKind.
func (r *reconciler) reconcileRoute(ctx context.Context, route *servingv1.Route) {
	before := route.DeepCopy()
	route.SetDefaults(ctx)
	begin(route)
	if err := r.route(r.withDomain(ctx), route); err != nil {
		route.Status.MarkUnknownTrafficError(err.Error())
	}
	r.end(route, before)
	if live := r.write.routes[keyOf(route)]; live == nil || live.ResourceVersion != before.ResourceVersion {
		return // the Service's controller wrote in this step
	}
	route.Spec = before.Spec
	store(r, r.write.routes, route, before, false)
}

func (r *reconciler) route(ctx context.Context, route *servingv1.Route) error {
	if route.Generation != route.Status.ObservedGeneration {
		route.Status.MarkIngressNotConfigured()
	}
	host, err := domains.DomainNameFromTemplate(ctx, route.ObjectMeta, route.Name)
	if err != nil {
		return err
	}
	route.Status.URL = &apis.URL{Scheme: "http", Host: host}
	config, err := traffic.BuildTrafficConfiguration(r.configurationLister(), r.revisionLister(), route)
	if bad := traffic.TargetError(nil); errors.As(err, &bad) {
		// Not all targets can take requests, so nothing is programmed and the old routing stays.
		bad.MarkBadTrafficTarget(&route.Status)
		return nil
	} else if err != nil {
		return err
	}
	if route.Status.Traffic, err = config.GetRevisionTrafficTargets(ctx, route, &traffic.Rollout{}); err != nil {
		return err
	}
	route.Status.MarkTrafficAssigned()
	route.Status.Address = &duckv1.Addressable{
		URL: &apis.URL{Scheme: "http", Host: route.Name + "." + route.Namespace + ".svc.cluster.local"},
	}
	route.Status.MarkTLSNotEnabled(servingv1.ExternalDomainTLSNotEnabledMessage)
	r.program(route)
	return nil
}

// program writes the Route's Ingress and takes over its state.
func (r *reconciler) program(route *servingv1.Route) {
	have := r.seen.ingresses[keyOf(route)]
	if have == nil || !equality.Semantic.DeepEqual(have.wanted, route.Status.Traffic) {
		next := &ingress{host: route.Status.URL.Host, wanted: cloneTraffic(route.Status.Traffic)}
		if have != nil {
			next.generation, next.observed, next.programmed = have.generation, have.observed, have.programmed
		}
		next.generation++
		r.write.ingresses[keyOf(route)] = next
		r.moved = true
		route.Status.MarkIngressNotConfigured()
		return
	}
	if have.generation != have.observed {
		route.Status.MarkIngressNotConfigured()
		return
	}
	var status netv1alpha1.IngressStatus
	status.InitializeConditions()
	status.MarkNetworkConfigured()
	status.MarkLoadBalancerReady(nil, nil)
	route.Status.PropagateIngressStatus(status)
}

// withDomain returns a context with Knative's own network settings and the model's domain.
func (r *reconciler) withDomain(ctx context.Context) context.Context {
	network, err := netcfg.NewConfigFromMap(nil)
	if err != nil {
		network = &netcfg.Config{} // cannot happen: the defaults are valid
	}
	return routecfg.ToContext(ctx, &routecfg.Config{
		Network: network,
		Domain:  &routecfg.Domain{Domains: map[string]routecfg.DomainConfig{r.config.Domain: {}}},
	})
}

func (r *reconciler) configurationLister() listers.ConfigurationLister {
	return listers.NewConfigurationLister(indexer(r.seen.configurations, r.tracked.configurations))
}

func (r *reconciler) revisionLister() listers.RevisionLister {
	return listers.NewRevisionLister(indexer(r.seen.revisions, r.tracked.revisions))
}

// indexer is the informer's cache that Knative's listers read: what is seen, as it was a step ago if
// it was there already.
func indexer[T any](seen, tracked map[key]T) cache.Indexer {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for k, obj := range seen {
		if old, found := tracked[k]; found {
			obj = old
		}
		_ = indexer.Add(obj) // only an object without metadata fails
	}
	return indexer
}
