package check

import (
	"encoding/json"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// podSecurity is the evaluator of the pod security admission of Kubernetes, with
// all of its checks.
var podSecurity = sync.OnceValue(func() policy.Evaluator {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		panic(err) // they are the library's own
	}
	return evaluator
})

// templates are where the kinds that make pods have the template of them; empty:
// the object is a pod itself.
var templates = map[metav1.GroupKind][]string{
	{Kind: "Pod"}:                                         {},
	{Kind: "PodTemplate"}:                                 {"template"},
	{Kind: "ReplicationController"}:                       {"spec", "template"},
	{Group: "apps", Kind: "Deployment"}:                   {"spec", "template"},
	{Group: "apps", Kind: "ReplicaSet"}:                   {"spec", "template"},
	{Group: "apps", Kind: "StatefulSet"}:                  {"spec", "template"},
	{Group: "apps", Kind: "DaemonSet"}:                    {"spec", "template"},
	{Group: "batch", Kind: "Job"}:                         {"spec", "template"},
	{Group: "batch", Kind: "CronJob"}:                     {"spec", "jobTemplate", "spec", "template"},
	{Group: "serving.knative.dev", Kind: "Service"}:       {"spec", "template"},
	{Group: "serving.knative.dev", Kind: "Configuration"}: {"spec", "template"},
}

// findInsecure looks at the pods as they are written. What Knative or a webhook
// adds to them is not known.
func findInsecure(f Facts) []found {
	if f.Request.PodSecurity == "" {
		return nil
	}
	level := api.LevelVersion{Level: api.Level(f.Request.PodSecurity), Version: api.LatestVersion()}
	var all []found
	for _, o := range objects(f.result()) {
		steps, there := templates[metav1.GroupKind(o.GroupVersionKind().GroupKind())]
		if !there {
			continue
		}
		pod, err := podOf(o, steps)
		if err != nil {
			continue // of a wrong type, which is another rule's
		}
		result := policy.AggregateCheckResults(podSecurity().EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
		if !result.Allowed {
			all = append(all, insecure(f, o, steps, result))
		}
	}
	return all
}

// podOf is the template of an object's pods.
func podOf(o unstructured.Unstructured, steps []string) (pod corev1.PodTemplateSpec, err error) {
	template, _, err := unstructured.NestedMap(o.Object, steps...)
	if err != nil {
		return pod, err
	}
	raw, err := json.Marshal(map[string]any{"metadata": template["metadata"], "spec": template["spec"]})
	if err != nil {
		return pod, err
	}
	return pod, json.Unmarshal(raw, &pod)
}

func insecure(f Facts, o unstructured.Unstructured, steps []string, result policy.AggregateCheckResult) found {
	var details []string
	for i, reason := range result.ForbiddenReasons {
		if detail := result.ForbiddenDetails[i]; detail != "" {
			reason += ": " + detail
		}
		details = append(details, reason)
	}
	spec := numbered(append(slices.Clone(steps), "spec"))
	return found{severity: errorIf(applied(f, o)), at: f.inObject(o, append(spec, "containers")...), values: values{
		"Object": title(o), "Standard": f.Request.PodSecurity, "Reasons": result.ForbiddenReasons, "Details": details, "Applied": applied(f, o),
	}}
}
