package check

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/argoproj/gitops-engine/pkg/utils/kube/scheme"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/util"
	"sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/acme/knative-promote/internal/oneline"
)

// bySchema tells whether Argo CD compares an object by its schema, or has the API server do it: by the
// object's own option, or by the Application's. An admin may have switched it on for all Applications,
// which no API tells. What it has compared at this very commit it can compare.
// https://github.com/argoproj/gitops-engine/blob/c08b0a72c1f1/pkg/diff/diff.go#L76-L113
func bySchema(f Facts, o unstructured.Unstructured) bool {
	if f.sync().compared() {
		return false
	}
	app := f.Setup.App
	return annotated(&o, syncOptions, "ServerSideApply=true") ||
		app != nil && (hasOption(app, "ServerSideApply=true") || annotated(app, compareOptions, "ServerSideDiff=true"))
}

// schemaErrors are what keeps an object of a type from being compared by its schema, as Argo CD has
// it; known is false where that is the cluster's alone.
func schemaErrors(object map[string]any, t reflect.Type) (wrong typed.ValidationErrors, known bool) {
	schema := scheme.StaticParser().Type(util.ToRESTFriendlyName(t.PkgPath() + "." + t.Name()))
	if !schema.IsValid() {
		return nil, false
	}
	_, err := schema.FromUnstructured(object)
	wrong, _ = errors.AsType[typed.ValidationErrors](err)
	return wrong, true
}

// incomparable tells whether fields that an object's type does not take keep Argo CD from comparing it.
// Of Knative's kinds nothing is known but the types.
func incomparable(f Facts, o unstructured.Unstructured) bool {
	example, err := knownTypes().New(o.GroupVersionKind())
	if err != nil || !bySchema(f, o) {
		return false
	}
	object := maps.Clone(o.Object)
	delete(object, sopsField)
	wrong, known := schemaErrors(object, typeOf(example))
	return !known || slices.ContainsFunc(wrong, func(e typed.ValidationError) bool { return !ofKeys(e) })
}

// ofKeys tells whether an error is of two entries of a list. No other text is shown: it may have a
// value, which could be a secret.
func ofKeys(e typed.ValidationError) bool {
	return strings.HasPrefix(e.ErrorMessage, "duplicate entries for key")
}

// doubledKeys are those of the errors of an object of a type. Where there is a field that is not known
// the library does not look at what is beside it, so these are left out.
func doubledKeys(object map[string]any, t reflect.Type) typed.ValidationErrors {
	clean := runtime.DeepCopyJSON(object)
	for _, m := range mismatches(object, t, nil) {
		if m.want == "" {
			remove(clean, m.steps)
		}
	}
	wrong, _ := schemaErrors(clean, t)
	return slices.DeleteFunc(wrong, func(e typed.ValidationError) bool { return !ofKeys(e) })
}

// remove takes out what steps lead to, the last one of which is a key.
func remove(value any, steps []any) {
	for _, step := range steps[:len(steps)-1] {
		if i, inList := step.(int); inList {
			value = value.([]any)[i]
		} else {
			value = value.(map[string]any)[step.(string)]
		}
	}
	delete(value.(map[string]any), steps[len(steps)-1].(string))
}

// findIncomparable finds lists in which two entries have the same key, which a sync without server-side
// apply takes. Where nobody has read the Application, it may have the option.
func findIncomparable(f Facts) []found {
	var all []found
	for _, o := range objects(f.result()) {
		example, err := knownTypes().New(o.GroupVersionKind())
		sure := bySchema(f, o)
		if err != nil || !sure && f.Setup.App != nil {
			continue
		}
		knative := o.GroupVersionKind().Group == servingGroup
		wrong := doubledKeys(o.Object, typeOf(example))
		if knative {
			wrong = doubledInPod(o)
		}
		if len(wrong) > 0 {
			all = append(all, incomparableKeys(f, o, wrong, sure, knative))
		}
	}
	return all
}

// doubledInPod are those of the pods of Knative's kinds. Which of their lists have keys is up to the
// version of Knative.
func doubledInPod(o unstructured.Unstructured) typed.ValidationErrors {
	pod, there, err := unstructured.NestedMap(o.Object, "spec", "template", "spec")
	if err != nil || !there {
		return nil
	}
	return doubledKeys(pod, reflect.TypeFor[corev1.PodSpec]()).WithPrefix(".spec.template.spec")
}

func incomparableKeys(f Facts, o unstructured.Unstructured, wrong typed.ValidationErrors, sure, knative bool) found {
	const most = 20
	var lines []string
	for _, e := range wrong[:min(len(wrong), most)] {
		lines = append(lines, oneline.Of(strings.TrimPrefix(e.Error(), "."), 300))
	}
	var steps []any
	field, _, _ := strings.Cut(wrong[0].Path, "[")
	for name := range strings.SplitSeq(strings.TrimPrefix(field, "."), ".") {
		steps = append(steps, name)
	}
	return found{severity: errorIf(sure && !knative), at: f.inObject(o, steps...), values: values{
		"Object": title(o), "Fields": andMore(lines, len(wrong)-most), "Sure": sure, "Knative": knative, "BySelf": annotated(&o, syncOptions, "ServerSideApply=true"),
	}}
}
