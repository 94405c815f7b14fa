package check

import (
	"cmp"
	"maps"
	"slices"

	"github.com/argoproj/gitops-engine/pkg/sync/hook"
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

// findTwice looks for objects that are one for Argo CD: it goes by the group, the kind, the namespace and the name, not by
// the version, and of hooks too.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/controller/state.go#L368-L405
func findTwice(f Facts) []found {
	same := map[string][]unstructured.Unstructured{}
	for _, o := range objects(f.result()) {
		if name := o.GetName(); name != "" { // else the API server gives each one of its own
			key := o.GroupVersionKind().GroupKind().String() + " " + name
			same[key] = append(same[key], o)
		}
	}
	var all []found
	for _, key := range slices.Sorted(maps.Keys(same)) {
		all = append(all, twice(f, same[key])...)
	}
	return all
}

// twice finds those of one namespace. One that names none has the Application's: where nobody has read that, it may be any,
// as of a change that is proposed.
func twice(f Facts, same []unstructured.Unstructured) []found {
	destination := ""
	if f.Setup.App != nil {
		destination = f.Setup.App.Spec.Destination.Namespace
	}
	in := map[string][]unstructured.Unstructured{}
	for _, o := range same {
		namespace := cmp.Or(o.GetNamespace(), destination)
		in[namespace] = append(in[namespace], o)
	}
	if len(in[""]) > 0 && len(in) > 1 {
		return []found{oneOf(f, same, len(in) == len(same))}
	}
	var all []found
	for _, namespace := range slices.Sorted(maps.Keys(in)) {
		if len(in[namespace]) > 1 {
			all = append(all, oneOf(f, in[namespace], false))
		}
	}
	return all
}

// oneOf is what is found of objects that are one for Argo CD, or perhaps are.
func oneOf(f Facts, same []unstructured.Unstructured, perhaps bool) found {
	const most = 10
	last := same[len(same)-1]
	var names []string
	for _, o := range same[:min(len(same), most)] {
		names = append(names, titleInFull(o))
	}
	return found{severity: errorIf(!perhaps || f.Before != nil), at: f.inObject(last, "metadata", "name"), values: values{
		"Object": title(last), "Perhaps": perhaps, "Count": len(same), "Objects": andMore(names, len(same)-most),
	}}
}

// findOtherVersions looks for Services of Knative that nothing here reads.
func findOtherVersions(f Facts) []found {
	var all []found
	for _, o := range objects(f.result()) {
		of := o.GroupVersionKind()
		if of.Group == servingGroup && of.Kind == "Service" && of.Version != "v1" && !hook.Skip(&o) {
			all = append(all, found{at: f.inObject(o, "apiVersion"), values: values{"Object": titleInFull(o)}})
		}
	}
	return all
}
