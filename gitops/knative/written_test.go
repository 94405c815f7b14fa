package knative_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// written is an overlay without a base whose Service has this spec.
func written(t *testing.T, spec string) *knative.State {
	t.Helper()
	service := "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: shop\nspec:\n  " +
		strings.ReplaceAll(strings.TrimSpace(spec), "\n", "\n  ") + "\n"
	state, err := knative.Read(t.Context(), fstest.MapFS{
		"overlay/kustomization.yaml": {Data: []byte("resources: [service.yaml]\n")},
		"overlay/service.yaml":       {Data: []byte(service)},
	}, "overlay", "")
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// TestObjects has all that the overlay renders, with kustomize's own notes: only
// what compares two renders leaves them out.
func TestObjects(t *testing.T) {
	t.Parallel()
	state, err := knative.Read(t.Context(), fstest.MapFS{
		"overlay/kustomization.yaml": {Data: []byte("resources: [all.yaml]\nnamePrefix: my-\nbuildMetadata: [transformerAnnotations]\n")},
		"overlay/all.yaml": {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n" +
			"{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: shop}, spec: {template: {spec: {containers: [{image: shop}]}}}}\n")},
	}, "overlay", "")
	if err != nil {
		t.Fatal(err)
	}
	const notes = "alpha.config.kubernetes.io/transformations"
	var names []string
	for _, o := range state.Objects() {
		names = append(names, o.GetKind()+"/"+o.GetName())
		if o.GetAnnotations()[notes] == "" {
			t.Errorf("%s has no annotation %s", o.GetName(), notes)
		}
	}
	if diff := cmp.Diff([]string{"ConfigMap/my-a", "Service/my-shop"}, names); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	service, err := state.Written()
	if err != nil || service.Name != "my-shop" || service.Annotations[notes] == "" || service.Spec.Template.Spec.EnableServiceLinks != nil {
		t.Errorf("the Service is %+v, %v: expected it as it is written", service, err)
	}
}

// TestRefusalIsOneLine has a value that Knative's validation quotes.
func TestRefusalIsOneLine(t *testing.T) {
	t.Parallel()
	err := written(t, `template: {metadata: {annotations: {autoscaling.knative.dev/min-scale: "1\e[31m\u202ered"}}, spec: {containers: [{image: shop}]}}`).Refusal()
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\u202e\n") || !strings.Contains(err.Error(), "1 [31m red") {
		t.Errorf("refused with %q, expected the name with nothing that a terminal obeys", err)
	}
}

// The fields are those that a real cluster kept out of sync, and those that it
// did not.
func TestRespellings(t *testing.T) {
	t.Parallel()
	container := func(field string) string {
		return "template:\n  spec:\n    containers:\n      - image: shop\n        " + field
	}
	const at = "/spec/template/spec/containers/0/"
	for _, test := range []struct {
		spec string
		want []string
	}{
		{container(`resources: {requests: {cpu: 1000m, memory: 512Mi}}`), []string{at + "resources/requests/cpu 1000m -> 1"}},
		{container(`resources: {requests: {cpu: 1}}`), []string{at + "resources/requests/cpu 1 -> 1"}},
		{container(`resources: {limits: {cpu: 0.5, memory: 1024Mi}}`), []string{at + "resources/limits/cpu 0.5 -> 500m", at + "resources/limits/memory 1024Mi -> 1Gi"}},
		{container(`resources: {limits: {cpu: "1", memory: "2147483648"}}`), nil},
		{container(`resources: {}`), nil},
		{container(`securityContext: {}`), nil},
		{container(`env: [{name: A, value: ""}]`), []string{at + "env/0/value empty"}},
		{container(`env: [{name: A}]`), nil},
		{container(`env:`), []string{at + "env empty"}},
		{container(`command: []`), []string{at + "command empty"}},
		{container(`tty: false`), []string{at + "tty empty"}},
		{container(`readinessProbe: {httpGet: {path: /}, initialDelaySeconds: 0}`), []string{at + "readinessProbe/initialDelaySeconds empty"}},
		{container(`imagePullPolice: Always`), []string{at + "imagePullPolice unknown"}},
		{container(`ports: [{containerPort: 8080}]`), nil},
		{"template:\n  metadata: {creationTimestamp: null}\n  spec: {containers: [{image: shop}]}", nil},
		{"template:\n  metadata: {annotations: {}}\n  spec: {containers: [{image: shop}]}", []string{"/spec/template/metadata/annotations empty"}},
		{"selector: {a: b}\ntemplate: {spec: {containers: [{image: shop}]}}", []string{"/spec/selector unknown"}},
		{"template: {spec: {containers: [{image: shop}]}}\ntraffic: []", []string{"/spec/traffic empty"}},
		{"template: {spec: {containers: [{image: shop}]}}\ntraffic: [{latestRevision: true, percent: 100, tag: ''}]", []string{"/spec/traffic/0/tag empty"}},
		{"template: {spec: {containerConcurrency: 0, timeoutSeconds: 300, containers: [{image: shop}]}}", nil},
	} {
		found, err := knative.Respellings(written(t, test.spec))
		if err != nil {
			t.Errorf("%s: %v", test.spec, err)
		}
		var got []string
		for _, r := range found {
			switch {
			case r.Empty:
				got = append(got, r.Path+" empty")
			case r.Stored == nil:
				got = append(got, r.Path+" unknown")
			default:
				got = append(got, fmt.Sprintf("%s %v -> %v", r.Path, r.Git, r.Stored))
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.spec, diff)
		}
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	const before = `
template:
  metadata: {name: shop-1}
  spec:
    timeoutSeconds: 120
    containers:
      - image: shop:v1
        env: [{name: A, value: "1"}]
        ports: [{containerPort: 8080}]
`
	for _, test := range []struct {
		name, old, new string
		want           []string
	}{
		{"nothing", "", "", nil},
		{"an image", "shop:v1", "shop:v2", []string{"/spec/template/spec/containers/0/image"}},
		{"a value", `"1"`, `"2"`, []string{"/spec/template/spec/containers/0/env/0/value"}},
		{"a field gone", `        env: [{name: A, value: "1"}]`, "", []string{"/spec/template/spec/containers/0/env"}},
		{"a field added", `{name: shop-1}`, `{name: shop-1, annotations: {a: b}}`, []string{"/spec/template/metadata/annotations"}},
		{"a default written out", `containers:`, "containerConcurrency: 0\n    containers:", nil},
		{"another name", "shop-1", "shop-2", nil},
		{"no name", "{name: shop-1}", "{}", nil},
	} {
		for _, settings := range []map[string]string{nil, {"revision-cpu-request": "400m"}} {
			cluster := newCluster(t, settings)
			if err := cluster.apply(written(t, before).Manifest, "shop"); err != nil {
				t.Fatal(err)
			}
			got, err := written(t, strings.Replace(before, test.old, test.new, 1)).Changed(cluster.known())
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", test.name, err, diff)
			}
		}
	}
}

// Of a revision with a generated name only its spec tells which template it
// was made of. Knative's defaults are in it, and the template's metadata is not.
func TestFits(t *testing.T) {
	t.Parallel()
	const before = "template: {metadata: {annotations: {a: b}}, spec: {timeoutSeconds: 120, containers: [{image: shop:v1, ports: [{containerPort: 8080}]}]}}"
	for _, test := range []struct {
		old, new      string
		builtIn, ours bool // with Knative's defaults, and with a cluster's own
	}{
		{"", "", true, true},
		{"a: b", "a: c", true, true},
		{"{timeoutSeconds", "{containerConcurrency: 0, timeoutSeconds", true, false}, // ours is another one
		{"120", "60", false, false},
		{"timeoutSeconds: 120, ", "", false, true}, // which is ours
		{"shop:v1", "shop:v2", false, false},
		{"image:", "env: [{name: A}], image:", false, false},
	} {
		for _, settings := range []map[string]string{nil, ownSettings()} {
			want := test.ours
			if settings == nil {
				want = test.builtIn
			}
			cluster := newCluster(t, settings)
			if err := cluster.apply(written(t, before).Manifest, "shop"); err != nil {
				t.Fatal(err)
			}
			revision := &servingv1.Revision{ObjectMeta: metav1.ObjectMeta{Name: "shop-00001"}, Spec: cluster.revisions["shop-00001"]}
			next := written(t, strings.Replace(before, test.old, test.new, 1))
			if err := cluster.apply([]byte(strings.Replace(string(next.Manifest), "shop:v1", "shop:v9", 1)), "shop"); err != nil {
				t.Fatal(err)
			}
			live := cluster.known()
			live.Status.LatestCreatedRevisionName = "shop-00002"
			got, err := next.Fits(revision, live)
			if err != nil || got != want {
				t.Errorf("with %s in place of %q and the settings %v: %v, %v", test.new, test.old, settings, got, err)
			}
		}
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"template: {spec: {containers: [{image: shop}]}}":                                                                   "",
		"template: {spec: {containers: [{image: shop}]}}\ntraffic: [{latestRevision: true, percent: 90}]":                   "Traffic targets sum to 90, want 100: spec.traffic",
		"template: {metadata: {name: other-1}, spec: {containers: [{image: shop}]}}":                                        `"other-1" must have prefix "shop-"`,
		"template: {metadata: {name: shop-1.0}, spec: {containers: [{image: shop}]}}":                                       "not a DNS 1035 label",
		"template: {metadata: {name: shop-" + strings.Repeat("x", 59) + "}, spec: {containers: [{image: shop}]}}":           "must be no more than 63 characters",
		"template: {spec: {containers: [{image: shop}]}}\ntraffic: [{latestRevision: true, revisionName: a, percent: 100}]": "may not set revisionName",
		"template: {spec: {containers: [{image: shop, livenessProbe: {httpGet: {path: /}, tcpSocket: {port: 1}}}]}}":        "livenessProbe",
	} {
		err := written(t, spec).Refusal()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}

func TestMissingDefaults(t *testing.T) {
	t.Parallel()
	plain := written(t, "template: {spec: {containers: [{image: shop}]}}")
	got, err := plain.MissingDefaults(nil)
	want := `- op: add
  path: /spec/template/spec/containers/0/name
  value: user-container
- op: add
  path: /spec/template/spec/containers/0/readinessProbe
  value:
    successThreshold: 1
    tcpSocket:
      port: 0
`
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	explicit := written(t, "template: {spec: {containers: [{image: shop, name: web, readinessProbe: {successThreshold: 1, tcpSocket: {port: 0}}}]}}")
	if got, err := explicit.MissingDefaults(nil); err != nil || got != nil {
		t.Errorf("explicit: %q, %v, want nothing", got, err)
	}
}

func TestPinnedByHandAndPatchTarget(t *testing.T) {
	t.Parallel()
	if got := knative.PinnedByHand(written(t, "template: {metadata: {name: shop-v1}, spec: {containers: [{image: shop}]}}")); got != "shop-v1" {
		t.Errorf("pinned by hand %q, want shop-v1", got)
	}
	s := scenarios(t)["round-trip-prefix"]
	r := s.start(t, newCluster(t, nil))
	state, err := r.read(t)
	if err != nil {
		t.Fatal(err)
	}
	target, err := knative.PatchTarget(state)
	if err != nil || target.Name == state.Service() || !strings.HasSuffix(state.Service(), target.Name) {
		t.Errorf("the patch of %s is for %q, %v; want the name before the prefix", state.Service(), target.Name, err)
	}
	if knative.PinnedByHand(state) != "" {
		t.Errorf("pinned by hand %q, want nothing", knative.PinnedByHand(state))
	}
}
