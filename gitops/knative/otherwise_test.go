package knative_test

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/gitops/knative"
)

// TestOtherwise has what Argo CD adds and hides for itself, which is no difference, beside what is one.
func TestOtherwise(t *testing.T) {
	t.Parallel()
	const rendered = `apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {level: debug}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: shop}
data: {level: debug}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {key: czNjcjN0}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {replicas: 2, template: {spec: {containers: [{name: c, image: one}]}}}
`
	state, err := knative.Rendered(t.Context(), fstest.MapFS{"web/kustomization.yaml": {}}, "web", []byte(rendered), "")
	if err != nil {
		t.Fatal(err)
	}
	alike := []string{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"web","annotations":{"argocd.argoproj.io/tracking-id":"x"}},"data":{"level":"debug"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"other"},"data":{"level":"info"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"shop"},"data":{"level":"debug"}}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"key":"++++"}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"app.kubernetes.io/instance":"web"}},"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"one"}]}}}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"more"}}`,
	}
	for name, test := range map[string]struct{ others, want []string }{
		"alike":     {alike, nil},
		"an image":  {append(alike[:4:4], `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"two"}]}}}}`), []string{"Deployment d: /spec/template/spec/containers/0/image"}},
		"elsewhere": {append([]string{alike[0], alike[1]}, alike[3:]...), []string{"ConfigMap b: is missing"}},
		"a version": {append(alike[:4:4], `{"apiVersion":"apps/v1beta1","kind":"Deployment","metadata":{"name":"d"}}`), []string{"Deployment d: is missing"}},
	} {
		var others []unstructured.Unstructured
		for _, text := range test.others {
			var o unstructured.Unstructured
			if err := json.Unmarshal([]byte(text), &o); err != nil {
				t.Fatal(err)
			}
			others = append(others, o)
		}
		if diff := cmp.Diff(test.want, knative.Otherwise(state, others)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
