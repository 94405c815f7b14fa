//go:build cluster

package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/acme/knative-promote/promote/policy"
)

// releasesOnly denies images of a beta in one namespace. Its message needs what
// was there before.
const releasesOnly = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: releases-only-NAMESPACE}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [serving.knative.dev], apiVersions: [v1], operations: [UPDATE], resources: [services]}]
  variables:
    - {name: image, expression: "object.spec.template.spec.containers[0].image"}
  validations:
    - expression: "!variables.image.contains('-beta')"
      messageExpression: "variables.image + ' is no release, after ' + oldObject.spec.template.spec.containers[0].image"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: releases-only-NAMESPACE}
spec:
  policyName: releases-only-NAMESPACE
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}}
`

// TestPolicies: what a policy denies, and what pod security and the fields'
// types forbid, ends before anything is pushed. The API server, when it has the
// same policy, refuses the same commit with the same words, and takes the other.
func TestPolicies(t *testing.T) {
	t.Parallel()
	var text string
	s := newSite(t, func(l *layout) {
		text = strings.ReplaceAll(releasesOnly, "NAMESPACE", l.Service)
		l.set("policies/releases.yaml", text)
	})
	policies := "policies=policies/*.yaml"
	s.promote("v1.1.0", "steps=100", policies).exits(0)
	s.madeAsPoliciesSee()
	good := s.git("rev-parse", "main")
	denied := s.Image + ":v2.0.0-beta is no release, after " + s.Image + ":v1.1.0"
	unpushed := func(r *run, says ...string) {
		t.Helper()
		before := s.git("rev-parse", "main")
		r.wait().exits(13).says(says...)
		if now := s.git("rev-parse", "main"); now != before {
			t.Errorf("%s was pushed", now)
		}
	}
	promote := func(tag string, inputs ...string) *run {
		return s.begin("promote", append([]string{"image=" + s.Image + ":" + tag, "steps=100"}, inputs...)...)
	}
	unpushed(promote("v2.0.0-beta", policies), "nothing was pushed: policy releases-only-"+s.Namespace+" denies Service "+s.Service+": "+denied)
	unpushed(promote("v2.0.0", "pod-security=restricted"), "nothing was pushed: Service "+s.Service+" violates the pod security standard restricted: ")
	s.restored(good, "v1.1.0")

	s.enact(text)
	promote("v2.0.0-beta", policies, "skip-checks=policy-denied").wait().exits(8).
		says("live: failed: the Service was refused: ValidatingAdmissionPolicy 'releases-only-"+s.Namespace+"'", "denied request: "+denied)
	s.restored(good, "v1.1.0")
	promote("v2.0.0", policies).wait().exits(0)
	s.settled("v2.0.0")

	s.push("Name a field wrongly", map[string]string{
		"./settings.yaml":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndta: {colour: red}\n",
		"./kustomization.yaml": replaced(t, s.read("./kustomization.yaml"), "  - ../../base", "  - ../../base\n  - settings.yaml"),
	})
	unpushed(promote("v3.0.0", "strict=true"), "nothing was pushed: ConfigMap settings has ", "dta")
}

// madeAsPoliciesSee fails the scenario where what policies are asked of is not so in what Knative has made.
func (s *site) madeAsPoliciesSee() {
	s.Helper()
	service, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.live())
	s.must(err)
	for _, made := range policy.Made(unstructured.Unstructured{Object: service}) {
		if made.GetKind() != "Deployment" {
			continue
		}
		is, err := kube.Resource(deployments).Namespace(s.Namespace).Get(s.Context(), made.GetName(), metav1.GetOptions{})
		s.must(err)
		for _, path := range missing("", made.Object, is.Object) {
			s.Errorf("the Deployment of Knative has something else at %s", path)
		}
	}
}

// missing are the paths of what one value has and another one has not, but for what only the cluster knows.
func missing(at string, one, other any) (paths []string) {
	switch one := one.(type) {
	case map[string]any:
		in, _ := other.(map[string]any)
		for key, value := range one {
			if !slices.Contains([]string{"image", "readinessProbe", "creationTimestamp", "annotations", "namespace", "generateName", "selector"}, key) {
				paths = append(paths, missing(at+"/"+key, value, in[key])...)
			}
		}
	case []any:
		in, _ := other.([]any)
		for i, value := range one {
			if i >= len(in) {
				return append(paths, at)
			}
			paths = append(paths, missing(fmt.Sprint(at, "/", i), value, in[i])...)
		}
	default:
		if !reflect.DeepEqual(one, other) {
			paths = append(paths, at)
		}
	}
	return paths
}

// enact gives the API server policies, until the scenario ends, and returns when
// it denies a beta by them.
func (s *site) enact(policies string) {
	s.Helper()
	s.Cleanup(func() { repeal(objectsOf(s.T, policies)) })
	s.must(kube.Apply(s.Context(), []byte(policies)))
	beta := objectsOf(s.T, `apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: `+s.Service+`}
spec: {template: {metadata: {name: `+s.Service+`-beta}, spec: {containers: [{image: "`+s.Image+`:-beta"}]}}}
`)[0]
	s.eventually("the API server judges by the policies", func() bool {
		err := kube.In(s.Namespace).DryRun(s.Context(), beta)
		return err != nil && strings.Contains(err.Error(), "is no release")
	})
}
