//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/promote/policy"
)

// TestPoliciesAsInTheCluster puts each policy of promote/policy's own cases into
// a real API server, and has it judge the same objects, new and as updates: its
// verdicts and messages must be those that the program has without a cluster.
func TestPoliciesAsInTheCluster(t *testing.T) {
	t.Parallel()
	for _, c := range golden.Cases(t, "../../../promote/policy/testdata/denials/*.txtar") {
		parts := golden.Parts(t, c.Path, "")
		for _, object := range objectsOf(t, documents(parts, "policies/")) {
			if object.GetKind() != "ValidatingAdmissionPolicy" {
				continue
			}
			t.Run(c.Name+"-"+object.GetName(), func(t *testing.T) {
				t.Parallel()
				newJudgement(t, parts, object.GetName()).agrees()
			})
		}
	}
}

// A judgement is one policy with its bindings, in a namespace for itself, and
// objects for it. What it is about has a label, so that it denies nothing of
// anybody else's.
type judgement struct {
	*testing.T
	namespace     string
	policies      []*unstructured.Unstructured // and bindings
	before, after []*unstructured.Unstructured
}

const judged = "scenario.example.com/judged"

func newJudgement(t *testing.T, parts map[string][]byte, name string) judgement {
	t.Helper()
	j := judgement{T: t, namespace: nameOf(t.Name())}
	here := func(text string) []*unstructured.Unstructured {
		text = strings.NewReplacer("namespace: other", "namespace: other-"+j.namespace, "shop", j.namespace).Replace(text)
		return objectsOf(t, text)
	}
	for _, p := range here(documents(parts, "policies/")) {
		of, isBinding, _ := unstructured.NestedString(p.Object, "spec", "policyName")
		if p.GetName() == name || isBinding && of == name {
			j.policies = append(j.policies, p)
		}
	}
	if len(j.policies) == 1 {
		j.policies = append(j.policies, binding(name))
	}
	for _, p := range j.policies {
		j.own(p)
	}
	j.before, j.after = here(string(parts["before.yaml"])), here(string(parts["after.yaml"]))
	for _, o := range slices.Concat(j.before, j.after) {
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[judged] = j.namespace
		o.SetLabels(labels)
	}
	return j
}

// binding lets a policy deny.
func binding(policy string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": map[string]any{"name": policy},
		"spec": map[string]any{"policyName": policy, "validationActions": []any{"Deny"}},
	}}
}

// own gives a policy or a binding a name of its own, in the version that is
// served. A binding is for labelled objects alone.
func (j judgement) own(p *unstructured.Unstructured) {
	p.SetAPIVersion("admissionregistration.k8s.io/v1")
	p.SetName(j.namespace + "-" + p.GetName())
	if of, isBinding, _ := unstructured.NestedString(p.Object, "spec", "policyName"); isBinding {
		if err := unstructured.SetNestedField(p.Object, j.namespace+"-"+of, "spec", "policyName"); err != nil {
			j.Fatal(err)
		}
		if err := unstructured.SetNestedField(p.Object, j.namespace, "spec", "matchResources", "objectSelector", "matchLabels", judged); err != nil {
			j.Fatal(err)
		}
	}
}

// agrees fails the test where the program and the API server differ.
func (j judgement) agrees() {
	j.Helper()
	j.enact()
	files := fstest.MapFS{}
	for i, p := range j.policies {
		files[fmt.Sprint(i, ".yaml")] = &fstest.MapFile{Data: manifestOf(j.T, p)}
	}
	set, err := policy.Read(j.Context(), files, []string{"*.yaml"})
	if err != nil {
		j.Fatal(err)
	}
	for _, o := range j.after {
		if o.GroupVersionKind().Group == "example.com" {
			continue // no API server has it
		}
		answer, err := set.Evaluate(j.Context(), j.namespace, values(j.before), values([]*unstructured.Unstructured{o}))
		if err != nil {
			j.Fatal(err)
		}
		said := slices.DeleteFunc(answer.Denials, func(d policy.Denial) bool { return d.Warns || d.Made != "" })
		refused := kube.In(j.namespace).DryRun(j.Context(), o)
		switch {
		case (refused != nil) != (len(said) > 0):
			j.Errorf("%s %s: the API server says %v, the program says %+v", o.GetKind(), o.GetName(), refused, said)
		case refused != nil && !strings.Contains(refused.Error(), said[0].Message):
			j.Errorf("%s %s: the API server says %v, the program says %q", o.GetKind(), o.GetName(), refused, said[0].Message)
		}
	}
}

// enact applies what was there before and then the policies, and returns when
// the API server judges by them: it does when it judges by the last one of them.
func (j judgement) enact() {
	j.Helper()
	ctx := j.Context()
	apply := func(objects ...*unstructured.Unstructured) {
		j.Helper()
		for _, o := range objects {
			if err := kube.In(j.namespace).Apply(ctx, manifestOf(j.T, o)); err != nil {
				j.Fatal(err)
			}
		}
	}
	for _, name := range []string{j.namespace, "other-" + j.namespace} {
		if err := kube.Namespace(ctx, name); err != nil {
			j.Fatal(err)
		}
	}
	apply(j.before...)
	last := objectsOf(j.T, `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: last}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps], resourceNames: [last]}]
  validations: [{expression: "false"}]
`)[0]
	lastBinding := binding("last")
	j.own(last)
	j.own(lastBinding)
	all := slices.Concat(j.policies, []*unstructured.Unstructured{last, lastBinding})
	j.Cleanup(func() { repeal(all) })
	apply(all...)
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "last", "labels": map[string]any{judged: j.namespace}},
	}}
	for kube.In(j.namespace).DryRun(ctx, probe) == nil && ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
	}
}

// repeal deletes policies and bindings.
func repeal(all []*unstructured.Unstructured) {
	for _, p := range all {
		plural := "validatingadmissionpolicies"
		if p.GetKind() == "ValidatingAdmissionPolicyBinding" {
			plural = "validatingadmissionpolicybindings"
		}
		resource := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: plural}
		_ = kube.Resource(resource).Delete(context.Background(), p.GetName(), metav1.DeleteOptions{}) // one that was never made is gone too
	}
}

// documents are the files of a case below a folder.
func documents(parts map[string][]byte, folder string) string {
	var text []string
	for name, content := range parts {
		if strings.HasPrefix(name, folder) && !strings.HasSuffix(name, "kustomization.yaml") {
			text = append(text, string(content))
		}
	}
	slices.Sort(text)
	return strings.Join(text, "\n---\n")
}

// objectsOf reads some YAML.
func objectsOf(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for document := range strings.SplitSeq(text, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
	return all
}

func manifestOf(t *testing.T, o *unstructured.Unstructured) []byte {
	t.Helper()
	content, err := yaml.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func values(all []*unstructured.Unstructured) []unstructured.Unstructured {
	var list []unstructured.Unstructured
	for _, o := range all {
		list = append(list, *o.DeepCopy())
	}
	return list
}
