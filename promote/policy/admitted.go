package policy

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/argoproj/gitops-engine/pkg/utils/kube/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// knativeTypes are the types of Knative Serving.
var knativeTypes = sync.OnceValue(func() *runtime.Scheme {
	types := runtime.NewScheme()
	if err := servingv1.AddToScheme(types); err != nil {
		panic(err) // it is the library's own list
	}
	return types
})

// admitted is an object as policies see it in a cluster: with its namespace, the
// defaults of Kubernetes or Knative, and without fields that its type does not
// have. Of a kind that is not known, or with a value of another type, it stays
// as it is written.
func admitted(o unstructured.Unstructured, namespace string) *unstructured.Unstructured {
	raw, err := o.MarshalJSON()
	if err != nil {
		return &o
	}
	if full, err := defaulted(o, raw); err == nil {
		raw = full
	}
	var content map[string]any
	if err := json.Unmarshal(raw, &content); err != nil { // whole numbers become integers, as in the API server
		return &o
	}
	withoutNulls(content)
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(o.GroupVersionKind())
	if object.GetNamespace() == "" && namespaced(o.GetKind()) {
		object.SetNamespace(namespace)
	}
	return object
}

// defaulted is the JSON of an object through its type.
func defaulted(o unstructured.Unstructured, raw []byte) ([]byte, error) {
	kind := o.GroupVersionKind()
	typed, err := knativeTypes().New(kind)
	if err != nil {
		typed, err = scheme.Scheme.New(kind)
	}
	if err == nil {
		err = json.Unmarshal(raw, typed)
	}
	if err != nil {
		return nil, err
	}
	scheme.Scheme.Default(typed)
	if knative, is := typed.(apis.Defaultable); is {
		knative.SetDefaults(apis.WithinCreate(context.Background()))
	}
	return json.Marshal(typed)
}

// withoutNulls takes out what Go's types write for nothing, such as
// creationTimestamp.
func withoutNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			if v == nil {
				delete(value, key)
			}
			withoutNulls(v)
		}
	case []any:
		for _, v := range value {
			withoutNulls(v)
		}
	}
}

// namespaced tells whether objects of a kind are in a namespace, as far as that
// can be told by its name.
func namespaced(kind string) bool {
	return !strings.HasPrefix(kind, "Cluster") && !strings.HasSuffix(kind, "Class") && !strings.HasSuffix(kind, "WebhookConfiguration") &&
		!slices.Contains([]string{"Namespace", "CustomResourceDefinition", "PersistentVolume", "APIService", "ValidatingAdmissionPolicy"}, kind)
}

// sameContent tells whether two renders of an object are the same.
func sameContent(a, b unstructured.Unstructured) bool { return reflect.DeepEqual(a.Object, b.Object) }
