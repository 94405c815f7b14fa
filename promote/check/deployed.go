package check

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/internal/oneline"
)

// ofItems tells whether Argo CD takes an object for a list, whatever its kind, and with a null also for none at all. kustomize
// has made objects of the lists whose kinds end in List.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/reposerver/repository/repository.go#L1483-L1500
func ofItems(o unstructured.Unstructured) bool {
	items, has := o.Object["items"]
	_, spec := o.Object["spec"]
	_, status := o.Object["status"]
	return o.IsList() || has && items == nil && !spec && !status
}

// findItems looks for objects that no other rule sees as Argo CD does.
func findItems(f Facts) []found {
	const most = 10
	var all []found
	for _, o := range objects(f.result()) {
		if !ofItems(o) {
			continue
		}
		items, _ := o.Object["items"].([]any)
		var names []string
		for _, item := range items[:min(len(items), most)] {
			object, _ := item.(map[string]any)
			names = append(names, titleInFull(unstructured.Unstructured{Object: object}))
		}
		all = append(all, found{at: f.inObject(o, "items"), values: values{"Object": titleInFull(o), "Items": andMore(names, len(items)-most)}})
	}
	return all
}

// titleInFull is an object with its version and its namespace, where it has one.
func titleInFull(o unstructured.Unstructured) string {
	text := o.GetAPIVersion() + " " + o.GetKind() + " " + o.GetName()
	if in := o.GetNamespace(); in != "" {
		text += " in namespace " + in
	}
	return oneline.Of(text, 300)
}
