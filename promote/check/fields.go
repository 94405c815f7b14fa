package check

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	servingv1beta1 "knative.dev/serving/pkg/apis/serving/v1beta1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/jsonpointer"
)

// knownTypes are the kinds whose fields are known: those of Kubernetes and of
// Knative Serving.
var knownTypes = sync.OnceValue(func() *runtime.Scheme {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{kubernetes.AddToScheme, servingv1.AddToScheme, servingv1beta1.AddToScheme} {
		if err := add(types); err != nil {
			panic(err) // it is the libraries' own list
		}
	}
	return types
})

// findUnknown leaves kinds alone that are not known. Of the Service that is
// promoted it leaves to findNotNormal what that finds, and wrong types, without
// which no promotion is planned. Of a change that is proposed neither is asked.
func findUnknown(f Facts) []found {
	var all []found
	for _, o := range objects(f.result()) {
		wrong := wrongFields(o)
		if f.Before == nil && isPromoted(f, o) {
			normal := notNormal(f)
			wrong = slices.DeleteFunc(wrong, func(m mismatch) bool {
				return m.want != "" || slices.ContainsFunc(normal, func(r knative.Respelling) bool { return r.Path == jsonpointer.Join(m.steps...) })
			})
		}
		if len(wrong) > 0 {
			all = append(all, unknownFields(f, o, wrong))
		}
	}
	return all
}

// wrongFields are the fields of an object that its type does not take. One that Argo CD does not deploy itself has none.
func wrongFields(o unstructured.Unstructured) []mismatch {
	typed, err := knownTypes().New(o.GroupVersionKind())
	if err != nil || ofItems(o) {
		return nil
	}
	return slices.DeleteFunc(mismatches(o.Object, typeOf(typed), nil), func(m mismatch) bool {
		return len(m.steps) == 1 && m.steps[0] == sopsField // which whoever decrypts the file takes out
	})
}

func unknownFields(f Facts, o unstructured.Unstructured, wrong []mismatch) found {
	slices.SortStableFunc(wrong, func(a, b mismatch) int { return b.rank() - a.rank() })
	first := wrong[0]
	incomparable := incomparable(f, o)
	misread := o.GroupVersionKind() == servingv1.SchemeGroupVersion.WithKind("Service") && knative.Misread(o) != nil
	return found{severity: errorIf(f.Request.Strict || incomparable || misread), at: f.inObject(o, first.steps...), values: values{
		"Object": title(o), "Incomparable": incomparable, "Misread": misread, "Field": readable(first.steps), "Is": first.is, "Want": first.want, "More": len(wrong) - 1, "Fields": fieldLines(f, o, wrong),
	}}
}

// fieldLines shows the fields, but no value: it could be a secret.
func fieldLines(f Facts, o unstructured.Unstructured, wrong []mismatch) []string {
	const most = 20
	var lines []string
	for _, m := range wrong[:min(len(wrong), most)] {
		line := readable(m.steps) + " is no field of " + o.GetKind()
		if m.want != "" {
			line = fmt.Sprintf("%s is %s, not %s", readable(m.steps), m.is, m.want)
		}
		if at := f.inObject(o, m.steps...); at.Line > 0 {
			line = fmt.Sprintf("%s:%d: %s", at.File, at.Line, line)
		}
		lines = append(lines, line)
	}
	return andMore(lines, len(wrong)-most)
}
