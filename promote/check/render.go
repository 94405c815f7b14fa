package check

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// objects are what an overlay renders; none for nil.
func objects(state *knative.State) []unstructured.Unstructured {
	if state == nil {
		return nil
	}
	var all []unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(string(state.Manifest)), 4096); ; {
		var o unstructured.Unstructured
		if decoder.Decode(&o.Object) != nil {
			return all // at its end: a State has been decoded before
		}
		if o.Object != nil {
			all = append(all, o)
		}
	}
}

// rendered is the Knative Service of an overlay as it stands in the render,
// without any of Knative's defaults; nil for nil.
func rendered(state *knative.State) *servingv1.Service {
	for _, o := range objects(state) {
		if o.GetAPIVersion() != "serving.knative.dev/v1" || o.GetKind() != "Service" || o.GetName() != state.Service() {
			continue
		}
		service := new(servingv1.Service)
		if raw, err := json.Marshal(o.Object); err == nil && json.Unmarshal(raw, service) == nil {
			return service
		}
	}
	return nil
}
