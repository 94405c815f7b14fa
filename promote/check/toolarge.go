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
		before[titleInFull(o)] = tooLarge(f, o) != nil
	}
	var all []found
	for _, o := range objects(f.result()) {
		is := tooLarge(f, o)
		if is == nil || before[titleInFull(o)] && !is["Sure"].(bool) {
			continue
		}
		all = append(all, found{severity: errorIf(is["Sure"].(bool)), at: f.inObject(o), values: is})
	}
	return all
}

// tooLarge is what is too large of an object; nil: nothing.
func tooLarge(f Facts, o unstructured.Unstructured) values {
	text, err := json.Marshal(o.Object)
	if err != nil {
		return nil
	}
	annotations := 0
	for key, value := range o.GetAnnotations() {
		annotations += len(key) + len(value)
	}
	app, applied := f.Setup.App, !annotated(&o, syncOptions, "ServerSideApply=true") && !annotated(&o, syncOptions, "Replace=true")
	if app != nil {
		applied = applied && !hasOption(app, "ServerSideApply=true") && !hasOption(app, "Replace=true")
	}
	is := values{"Object": title(o), "Size": len(text) >> 10, "Whole": true, "Applied": false, "Sure": true}
	switch {
	case len(text) > mostStored-roomForRuns:
		return is
	case annotations > mostAnnotations-roomForRuns:
		is["Size"], is["Whole"] = annotations>>10, false
		return is
	case applied && annotations+len(text) > mostAnnotations-roomForRuns:
		is["Size"], is["Whole"], is["Applied"] = (annotations+len(text))>>10, false, true
		is["Sure"] = app != nil || o.GroupVersionKind() == servingv1.SchemeGroupVersion.WithKind("Service")
		return is
	}
	return nil
}
