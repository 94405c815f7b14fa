package check

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// findBySchema finds what a proposed change says of objects that are applied server-side by their own option, of
// kinds whose fields only the cluster knows: nothing here tells whether Argo CD can compare them.
func findBySchema(f Facts) []found {
	if f.Before == nil {
		return nil
	}
	var all []found
	before := objects(f.Before)
	for _, o := range objects(f.result()) {
		as := func(was unstructured.Unstructured) bool { return reflect.DeepEqual(was.Object, o.Object) }
		if _, err := knownTypes().New(o.GroupVersionKind()); err == nil || !annotated(&o, syncOptions, "ServerSideApply=true") || slices.ContainsFunc(before, as) {
			continue
		}
		all = append(all, found{at: f.inObject(o), values: values{"Object": title(o)}})
	}
	return all
}
