package check

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What an Application may hold, in bytes: etcd takes 1.5 MiB, and the rest of the object needs room too.
// https://etcd.io/docs/v3.5/dev-guide/limit/#request-size-limit
const maxApplication = 1 << 20

// findLarge finds an overlay with so many objects that Argo CD cannot store any more what it has synced. What is
// live already may have just enough room.
func findLarge(f Facts) []found {
	bytes := 0
	for _, o := range objects(f.result()) {
		bytes += heldOf(o)
	}
	if bytes <= maxApplication {
		return nil
	}
	return []found{{severity: errorIf(f.Before != nil), at: f.inKustomization(), values: values{"Size": fmt.Sprintf("%.1f", float64(bytes)/(1<<20))}}}
}

// heldOf is about what an Application holds of an object, in bytes: its state, and the result of its last sync with
// a message of kubectl's.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/pkg/apis/application/v1alpha1/types.go#L1600-L1622
// https://github.com/argoproj/argo-cd/blob/v2.14.21/pkg/apis/application/v1alpha1/types.go#L1998-L2010
func heldOf(o unstructured.Unstructured) int {
	const fields, words = 320, 40
	gvk := o.GroupVersionKind()
	names := len(gvk.Group) + len(gvk.Version) + len(gvk.Kind) + len(o.GetNamespace()) + len(o.GetName())
	return fields + 2*names + words + len(gvk.Group) + len(gvk.Kind) + len(o.GetName())
}
