package check

import (
	"github.com/argoproj/gitops-engine/pkg/sync/hook"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// findFollowing looks for Routes of the overlay beside the Service's own that name its Configuration: Knative sends their
// requests to its latest revision that is Ready, whatever the traffic of the Service says.
// https://github.com/knative/specs/blob/main/specs/serving/knative-api-specification-1.0.md
func findFollowing(f Facts) []found {
	var all []found
	for _, o := range objects(f.Next) {
		if o.GetKind() != "Route" || o.GroupVersionKind().Group != servingGroup || o.GetName() == f.Next.Service() || f.elsewhere(o) || hook.Skip(&o) {
			continue
		}
		for i, target := range targetsOf(o) {
			if target.ConfigurationName == f.Next.Service() {
				all = append(all, found{at: f.inObject(o, "spec", "traffic", i, "configurationName"), values: values{"Object": title(o)}})
				break
			}
		}
	}
	return all
}

// targetsOf are those of a Route; none: it is not one that Knative takes.
func targetsOf(o unstructured.Unstructured) []servingv1.TrafficTarget {
	var route servingv1.Route
	if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &route) != nil {
		return nil
	}
	return route.Spec.Traffic
}
