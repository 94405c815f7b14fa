package cluster

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

const servingGroup = "serving.knative.dev"

// Ref names an object.
type Ref struct{ Group, Kind, Namespace, Name string }

// RefOf returns the name of obj.
func RefOf(obj *unstructured.Unstructured) Ref {
	gvk := obj.GroupVersionKind()
	return Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

type key struct{ namespace, name string }

func keyOf(obj metav1.Object) key { return key{obj.GetNamespace(), obj.GetName()} }

// objects is everything that the API server stores. Stored objects are replaced, never changed in
// place, so a clone of the maps is a consistent view.
type objects struct {
	services       map[key]*servingv1.Service
	configurations map[key]*servingv1.Configuration
	routes         map[key]*servingv1.Route
	revisions      map[key]*servingv1.Revision
	ingresses      map[key]*ingress
	others         map[Ref]*unstructured.Unstructured
}

func newObjects() objects {
	return objects{
		services:       map[key]*servingv1.Service{},
		configurations: map[key]*servingv1.Configuration{},
		routes:         map[key]*servingv1.Route{},
		revisions:      map[key]*servingv1.Revision{},
		ingresses:      map[key]*ingress{},
		others:         map[Ref]*unstructured.Unstructured{},
	}
}

func (o *objects) clone() objects {
	return objects{
		services:       maps.Clone(o.services),
		configurations: maps.Clone(o.configurations),
		routes:         maps.Clone(o.routes),
		revisions:      maps.Clone(o.revisions),
		ingresses:      maps.Clone(o.ingresses),
		others:         maps.Clone(o.others),
	}
}

func (o *objects) get(ref Ref) *unstructured.Unstructured {
	if ref.Group != servingGroup {
		return o.others[ref].DeepCopy()
	}
	k := key{ref.Namespace, ref.Name}
	switch ref.Kind {
	case "Service":
		return present(o.services[k], ref.Kind)
	case "Configuration":
		return present(o.configurations[k], ref.Kind)
	case "Route":
		return present(o.routes[k], ref.Kind)
	case "Revision":
		return present(o.revisions[k], ref.Kind)
	}
	return o.others[ref].DeepCopy()
}

func (o *objects) list() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, s := range o.services {
		all = append(all, present(s, "Service"))
	}
	for _, c := range o.configurations {
		all = append(all, present(c, "Configuration"))
	}
	for _, r := range o.routes {
		all = append(all, present(r, "Route"))
	}
	for _, r := range o.revisions {
		all = append(all, present(r, "Revision"))
	}
	for _, u := range o.others {
		all = append(all, u.DeepCopy())
	}
	return all
}

// present shows a typed object as the API server does, with its apiVersion and kind.
func present[T any](obj *T, kind string) *unstructured.Unstructured {
	if obj == nil {
		return nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil // cannot happen: the types are Kubernetes'
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetAPIVersion(servingv1.SchemeGroupVersion.String())
	u.SetKind(kind)
	return u
}

// delete removes an object and what it owns.
func (o *objects) delete(ref Ref) bool {
	k := key{ref.Namespace, ref.Name}
	if ref.Group == servingGroup && ref.Kind == "Revision" {
		_, found := o.revisions[k]
		delete(o.revisions, k)
		return found
	}
	if ref.Group != servingGroup || ref.Kind != "Service" {
		_, found := o.others[ref]
		delete(o.others, ref)
		return found
	}
	_, found := o.services[k]
	delete(o.services, k)
	delete(o.configurations, k)
	delete(o.routes, k)
	delete(o.ingresses, k)
	maps.DeleteFunc(o.revisions, func(rk key, rev *servingv1.Revision) bool {
		return rk.namespace == k.namespace && rev.Labels["serving.knative.dev/service"] == k.name
	})
	return found
}

func cloneTraffic(targets []servingv1.TrafficTarget) []servingv1.TrafficTarget {
	out := make([]servingv1.TrafficTarget, len(targets))
	for i := range targets {
		targets[i].DeepCopyInto(&out[i])
	}
	return out
}
