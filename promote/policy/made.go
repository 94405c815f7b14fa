package policy

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Made are the Deployment and the Pod that come of the template of a Knative Service, as policies see them where they are made,
// without what only the cluster knows: the queue-proxy beside the Service's own containers, their probes and their environment.
// https://github.com/knative/serving/blob/main/pkg/reconciler/revision/resources/deploy.go
func Made(service unstructured.Unstructured) []unstructured.Unstructured {
	if service.GetAPIVersion() != "serving.knative.dev/v1" || service.GetKind() != "Service" {
		return nil
	}
	template, _, err := unstructured.NestedMap(admitted(service, "").Object, "spec", "template")
	spec, isMap := template["spec"].(map[string]any)
	if err != nil || !isMap {
		return nil
	}
	for _, ofKnative := range []string{"containerConcurrency", "timeoutSeconds", "responseStartTimeoutSeconds", "idleTimeoutSeconds"} {
		delete(spec, ofKnative)
	}
	given := unstructured.Unstructured{Object: template}
	revision := given.GetName()
	if revision == "" {
		revision = service.GetName() + "-00001"
	}
	labels := map[string]string{
		"app":                               revision,
		"serving.knative.dev/service":       service.GetName(),
		"serving.knative.dev/configuration": service.GetName(),
		"serving.knative.dev/revision":      revision,
	}
	maps.Copy(labels, given.GetLabels())
	of := func(apiVersion, kind string, spec map[string]any) unstructured.Unstructured {
		o := unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": spec}}
		o.SetNamespace(service.GetNamespace())
		o.SetLabels(labels)
		o.SetAnnotations(given.GetAnnotations())
		return o
	}
	pod := of("v1", "Pod", spec)
	pod.SetGenerateName(revision + "-deployment-")
	deployment := of("apps/v1", "Deployment", map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"serving.knative.dev/revisionUID": ""}}, // which only the cluster knows
		"template": map[string]any{"metadata": pod.Object["metadata"], "spec": spec},
	})
	deployment.SetName(revision + "-deployment")
	return []unstructured.Unstructured{deployment, pod}
}
