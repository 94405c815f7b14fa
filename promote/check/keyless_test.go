package check

import (
	"regexp"
	"strings"
	"testing"

	"github.com/argoproj/gitops-engine/pkg/diff"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestMissingKey compares with Argo CD's own comparison of an object with itself, and as a cluster stores it.
func TestMissingKey(t *testing.T) {
	noMergeKey := regexp.MustCompile(`does not contain declared merge key: (\w+)$`)
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: "
	for name, manifest := range map[string]string{
		"nothing":                  pod + "{containers: [{name: a, image: b}]}",
		"a container without name": pod + "{containers: [{image: b}]}",
		"an empty name":            pod + "{containers: [{name: a}], imagePullSecrets: [{name: ''}]}",
		"a port":                   pod + "{containers: [{name: a, ports: [{name: http}]}]}",
		"a variable":               pod + "{initContainers: [{name: a, env: [{name: B}, {value: c}]}]}",
		"a volume's items":         pod + "{volumes: [{name: a, configMap: {items: [{path: b}]}}]}",
		"a projected source":       pod + "{volumes: [{name: a, projected: {sources: [{secret: {}}]}}]}",
		"a volume":                 pod + "{volumes: [{emptyDir: {}}]}",
		"a toleration":             pod + "{tolerations: [{operator: Exists}]}",
		"a constraint":             pod + "{topologySpreadConstraints: [{maxSkew: 1}]}",
		"an owner":                 "apiVersion: v1\nkind: Pod\nmetadata: {name: a, ownerReferences: [{name: b}], managedFields: [{manager: c}]}",
		"a Service's port":         "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{name: http}]}",
		"a webhook":                "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: a}\nwebhooks: [{rules: [{operations: ['*']}]}]",
		"a Deployment's mount":     "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: a, volumeMounts: [{name: b}]}]}}}",
		"a role's rule":            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules: [{verbs: [get]}]",
		"an account's secret":      "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\nsecrets: [{namespace: b}]",
		"a peer":                   "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: a}\nspec: {ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}",
		"a kind of somebody's":     "apiVersion: example.com/v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{image: b}]}",
	} {
		var o unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(manifest), &o.Object); err != nil {
			t.Fatal(err)
		}
		live := []*unstructured.Unstructured{&o}
		if s := stored(o); s != nil {
			live = append(live, s)
		}
		want := ""
		for _, l := range live {
			if _, err := diff.Diff(&o, l); err != nil && want == "" {
				if key := noMergeKey.FindStringSubmatch(err.Error()); key != nil {
					want = key[1]
				}
			}
		}
		if got := missingKey(o); got != want {
			t.Errorf("%s: got %q, want %q as Argo CD", name, got, want)
		}
	}
}

// TestMissingKeyOfALongList has an entry without its key at the end of a list of which comparing each with each takes hours.
func TestMissingKeyOfALongList(t *testing.T) {
	var o unstructured.Unstructured
	volumes := "[" + strings.Repeat("{name: a}, ", 80_000) + "{emptyDir: {}}]"
	if err := yaml.Unmarshal([]byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {volumes: "+volumes+"}"), &o.Object); err != nil {
		t.Fatal(err)
	}
	if got := missingKey(o); got != "name" {
		t.Errorf("got %q, want name", got)
	}
}
