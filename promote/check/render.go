package check

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// objects are what an overlay renders; none for nil.
func objects(state *knative.State) []unstructured.Unstructured {
	if state == nil {
		return nil
	}
	return state.Objects()
}

// rendered is the Knative Service of an overlay as it stands in the render,
// without any of Knative's defaults; nil for nil, and where it is none.
func rendered(state *knative.State) *servingv1.Service {
	if state == nil {
		return nil
	}
	service, err := state.Written()
	if err != nil {
		return nil
	}
	return service
}
