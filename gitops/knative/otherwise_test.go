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
		if diff := cmp.Diff(test.want, knative.Otherwise(knative.Both{Ours: state.Objects(), Others: others})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestOtherwiseSince has changes of which one renders more, less or other objects, labels and annotations than the other, and
// what was so before.
func TestOtherwiseSince(t *testing.T) {
	t.Parallel()
	const plain = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"level":"debug"}}`
	const tracked = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"web","annotations":{"argocd.argoproj.io/tracking-id":"x"}},"data":{"level":"debug"}}`
	const info = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"level":"info"}}`
	const owned = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"acme/of":"web"}},"data":{"level":"debug"}}`
	const ownedInfo = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"acme/of":"web"}},"data":{"level":"info"}}`
	const hidden = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"argocd.argoproj.io/hook":"Skip"}},"data":{"level":"debug"}}`
	const elsewhere = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"kube-system"},"data":{"level":"debug"}}`
	const owner = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","finalizers":["eve.example/x"],"creationTimestamp":null},"data":{"level":"debug"}}`
	const more = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"more"}}`
	const secret = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"key":"czNjcjN0"}}`
	const starred = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"key":"++++"}}`
	const generated = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"generateName":"migrate-"},"spec":{"parallelism":1}}`
	type commit struct{ ours, others []string }
	both := func(c commit) (b knative.Both) {
		b.Namespace = "web"
		for into, texts := range map[*[]unstructured.Unstructured][]string{&b.Ours: c.ours, &b.Others: c.others} {
			for _, text := range texts {
				var o unstructured.Unstructured
				if err := json.Unmarshal([]byte(text), &o); err != nil {
					t.Fatal(err)
				}
				*into = append(*into, o)
			}
		}
		return b
	}
	for name, test := range map[string]struct {
		was, is commit
		want    []string
	}{
		"new and alike":              {commit{}, commit{[]string{plain}, []string{tracked}}, nil},
		"another value":              {commit{[]string{plain}, []string{plain}}, commit{[]string{plain}, []string{info}}, []string{"ConfigMap a: /data/level"}},
		"a value that was other too": {commit{[]string{plain}, []string{info}}, commit{[]string{plain}, []string{info}}, nil},
		"a change that others do not make": {commit{[]string{plain}, []string{plain}}, commit{[]string{info}, []string{plain}},
			[]string{"ConfigMap a: /data/level"}},
		"one more":                         {commit{}, commit{[]string{plain}, []string{plain, more}}, []string{"ConfigMap: one is there in addition"}},
		"one more, as before":              {commit{[]string{plain}, []string{plain, more}}, commit{[]string{info}, []string{info, more}}, nil},
		"one less":                         {commit{}, commit{[]string{plain, more}, []string{plain}}, []string{"ConfigMap more: is missing"}},
		"an annotation":                    {commit{}, commit{[]string{plain}, []string{hidden}}, []string{"ConfigMap a: /metadata/annotations/argocd.argoproj.io~1hook"}},
		"an annotation that others remove": {commit{}, commit{[]string{hidden}, []string{plain}}, []string{"ConfigMap a: /metadata/annotations/argocd.argoproj.io~1hook"}},
		"a label":                          {commit{}, commit{[]string{plain}, []string{owned}}, []string{"ConfigMap a: /metadata/labels/acme~1of"}},
		"a label that others add to all":   {commit{[]string{plain}, []string{owned}}, commit{[]string{info}, []string{ownedInfo}}, nil},
		"another namespace":                {commit{}, commit{[]string{plain}, []string{elsewhere}}, []string{"ConfigMap a: /metadata/namespace"}},
		"a finalizer":                      {commit{}, commit{[]string{plain}, []string{owner}}, []string{"ConfigMap a: /metadata/finalizers"}},
		"a hidden secret":                  {commit{}, commit{[]string{secret}, []string{starred}}, nil},
		"a secret more":                    {commit{}, commit{nil, []string{starred}}, []string{"Secret: one is there in addition"}},
		"one of two of a generated name":   {commit{}, commit{[]string{generated}, []string{generated, generated}}, []string{"Job: one is there in addition"}},
	} {
		if diff := cmp.Diff(test.want, knative.OtherwiseSince(both(test.was), both(test.is))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
