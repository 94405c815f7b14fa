package check

import (
	"cmp"
	"slices"

	"github.com/argoproj/gitops-engine/pkg/sync/hook"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/oneline"
)

// What Knative makes of a Service under its name, under those of its tags, and under those of its revisions. Of each
// kind but Ingress, which it writes over, it refuses one that it does not own.
// https://github.com/knative/serving/blob/v0.42.2/pkg/reconciler/service/service.go#L125-L172
// https://github.com/knative/serving/blob/v0.42.2/pkg/reconciler/route/reconcile_resources.go#L151-L240
var (
	madeOfService = []metav1.GroupKind{
		{Group: "serving.knative.dev", Kind: "Route"}, {Group: "serving.knative.dev", Kind: "Configuration"},
		{Group: "networking.internal.knative.dev", Kind: "Ingress"}, {Kind: "Service"}, {Kind: "Endpoints"},
	}
	madeOfTag      = []metav1.GroupKind{{Kind: "Service"}, {Kind: "Endpoints"}}
	madeOfRevision = []metav1.GroupKind{
		{Group: "serving.knative.dev", Kind: "Revision"}, {Group: "autoscaling.internal.knative.dev", Kind: "PodAutoscaler"},
		{Group: "autoscaling.internal.knative.dev", Kind: "Metric"}, {Group: "networking.internal.knative.dev", Kind: "ServerlessService"},
		{Kind: "Service"}, {Kind: "Endpoints"},
	}
)

// findMade looks for objects of the overlay that Knative makes too. One of another namespace it does not.
func findMade(f Facts) []found {
	names := namesOfKnative(f)
	var all []found
	for _, o := range objects(f.Next) {
		of := metav1.GroupKind(o.GroupVersionKind().GroupKind())
		if !slices.Contains(names[of], o.GetName()) || f.elsewhere(o) || hook.Skip(&o) {
			continue
		}
		all = append(all, found{at: f.inObject(o, "metadata", "name"), values: values{
			"Object": oneline.Of(o.GetAPIVersion()+" "+title(o), 200), "Kind": o.GetKind(),
		}})
	}
	return all
}

// namesOfKnative are those that it gives what it makes of the Service, as the promotion leaves it. The tags have them
// by Knative's default of tag-template.
func namesOfKnative(f Facts) map[metav1.GroupKind][]string {
	names := map[metav1.GroupKind][]string{}
	add := func(kinds []metav1.GroupKind, name string) {
		for _, kind := range kinds {
			names[kind] = append(names[kind], name)
		}
	}
	name := f.Next.Service()
	add(madeOfService, name)
	if tag := f.Request.CandidateTag; tag != "" {
		add(madeOfTag, tag+"-"+name)
	}
	for _, service := range []*servingv1.Service{rendered(f.Next), rendered(f.result())} {
		if service == nil {
			continue
		}
		revisions := []string{service.Spec.Template.Name}
		for _, target := range service.Spec.Traffic {
			revisions = append(revisions, target.RevisionName)
			add(madeOfTag, target.Tag+"-"+name)
		}
		for _, revision := range revisions {
			add(madeOfRevision, revision)
			add([]metav1.GroupKind{{Kind: "Service"}}, revision+"-private")
			add([]metav1.GroupKind{{Group: "apps", Kind: "Deployment"}}, revision+"-deployment")
		}
	}
	return names
}

// elsewhere tells whether an object certainly has another namespace than the Service.
func (f Facts) elsewhere(o unstructured.Unstructured) bool {
	in, service := o.GetNamespace(), f.namespace()
	if f.Setup.App != nil {
		in = cmp.Or(in, f.Setup.App.Spec.Destination.Namespace)
	}
	return in != "" && service != "" && in != service
}
