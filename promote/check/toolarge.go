package check

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// What an object may have at most. Promotions write a little into it.
const (
	mostStored      = 3 << 19 // bytes of JSON, by default of etcd: https://etcd.io/docs/v3.5/dev-guide/limit/
	mostAnnotations = validation.TotalAnnotationSizeLimitB
	roomForRuns     = 4 << 10
)

// findTooLarge finds objects that the API server refuses for their size. One that an option of the Application lets it take, which no
// file tells, has been applied where it was as large before.
func findTooLarge(f Facts) []found {
	before := map[string]bool{}
	for _, o := range objects(f.Before) {
		_, before[titleInFull(o)] = excessOf(f, o)
	}
	var all []found
	for _, o := range objects(f.result()) {
		e, is := excessOf(f, o)
		if is && (e.sure || !before[titleInFull(o)]) {
			all = append(all, found{severity: errorIf(e.sure), at: f.inObject(o), values: values{
				"Object": title(o), "Size": e.bytes >> 10, "Whole": e.whole, "Applied": e.applied, "Sure": e.sure,
			}})
		}
	}
	return all
}

// An excess is what is too large of an object: all of it, or its annotations, with the one that holds the object where it is applied so.
// It is not sure where an option of the Application may change that.
type excess struct {
	bytes                int
	whole, applied, sure bool
}

// excessOf is that of an object; false: there is none.
func excessOf(f Facts, o unstructured.Unstructured) (excess, bool) {
	text, err := json.Marshal(o.Object)
	if err != nil {
		return excess{}, false
	}
	annotations := 0
	for key, value := range o.GetAnnotations() {
		annotations += len(key) + len(value)
	}
	switch both := annotations + len(text); {
	case len(text) > mostStored-roomForRuns:
		return excess{len(text), true, false, true}, true
	case annotations > mostAnnotations-roomForRuns:
		return excess{annotations, false, false, true}, true
	case both > mostAnnotations-roomForRuns && writesLastApplied(f, o):
		return excess{both, false, true, f.Setup.App != nil || o.GroupVersionKind() == servingv1.SchemeGroupVersion.WithKind("Service")}, true
	}
	return excess{}, false
}

// writesLastApplied tells whether Argo CD writes an object into an annotation of its own, as far as is known.
func writesLastApplied(f Facts, o unstructured.Unstructured) bool {
	for _, option := range []string{"ServerSideApply=true", "Replace=true"} {
		if annotated(&o, syncOptions, option) || f.Setup.App != nil && hasOption(f.Setup.App, option) {
			return false
		}
	}
	return true
}
