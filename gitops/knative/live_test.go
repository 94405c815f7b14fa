package knative_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
)

const liveManifest = `apiVersion: serving.knative.dev/v1
kind: Service
metadata:
  name: shop
spec:
  template:
    spec:
      containers:
        - image: ghcr.io/acme/shop:v1
`

// liveTree is an overlay of its own.
func liveTree(manifest string) fstest.MapFS {
	return fstest.MapFS{
		"kustomization.yaml": {Data: []byte("resources:\n  - service.yaml\n"), Mode: 0o644},
		"service.yaml":       {Data: []byte(manifest), Mode: 0o644},
	}
}

// routed is the overlay with all traffic on its own revision, and the content
// of the defaults file.
func routed(t *testing.T, manifest string, live func(revision string) *servingv1.Service) (*knative.State, string) {
	t.Helper()
	now, err := knative.Read(t.Context(), liveTree(manifest), ".", "shop")
	if err != nil {
		t.Fatal(err)
	}
	revision, err := now.NextRevision()
	if err != nil {
		t.Fatal(err)
	}
	after, err := now.Route(t.Context(), revision, knative.Split{Stable: revision}.Targets("candidate", true), nil, live(revision))
	if err != nil {
		t.Fatal(err)
	}
	files, err := after.Files()
	if err != nil {
		t.Fatal(err)
	}
	return after, string(files["knative-promote-shop.defaults.yaml"])
}

// liveService is the Service as a cluster shows it, where other webhooks than
// Knative's have written too.
func liveService(revision, image string) *servingv1.Service {
	service := &servingv1.Service{}
	service.Name = "shop"
	service.Spec.Template.Name = revision
	service.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "from-the-cluster", Image: image, ImagePullPolicy: corev1.PullAlways,
		Env:     []corev1.EnvVar{{Name: "TOKEN", Value: "hunter2"}},
		EnvFrom: []corev1.EnvFromSource{{Prefix: "hunter2"}},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("400m"), "hunter2.example.com/gpu": resource.MustParse("1"),
		}},
		ReadinessProbe: &corev1.Probe{SuccessThreshold: 1, ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: "/ready", HTTPHeaders: []corev1.HTTPHeader{{Name: "Authorization", Value: "hunter2"}}},
		}},
		LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"hunter2"}}}},
	}}
	service.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "hunter2"}}
	return service
}

// TestLiveDefaults takes from a live Service what Knative gives defaults to,
// and nothing else: what other webhooks inject may be secret.
func TestLiveDefaults(t *testing.T) {
	t.Parallel()
	_, got := routed(t, liveManifest, func(revision string) *servingv1.Service { return liveService(revision, "ghcr.io/acme/shop:v1") })
	_, want, _ := strings.Cut(`
# Written by knative-promote: what Knative adds to the template's lists. Without it
# Knative refuses a commit that only shifts traffic.
- op: add
  path: /spec/template/spec/containers/0/name
  value: from-the-cluster
- op: add
  path: /spec/template/spec/containers/0/readinessProbe
  value:
    httpGet:
      path: /ready
      port: 0
    successThreshold: 1
- op: add
  path: /spec/template/spec/containers/0/resources
  value:
    requests:
      cpu: 400m
`, "\n")
	if got != want {
		t.Errorf("got\n%s\ninstead of\n%s", got, want)
	}
	if strings.Contains(got, "hunter2") {
		t.Error("a secret is in the file")
	}
}

// TestLiveOfAnotherRevision takes nothing but the containers' names from a
// live Service with another template.
func TestLiveOfAnotherRevision(t *testing.T) {
	t.Parallel()
	for name, live := range map[string]func(revision string) *servingv1.Service{
		"another revision": func(string) *servingv1.Service { return liveService("shop-00001", "ghcr.io/acme/shop:v1") },
		"another image":    func(revision string) *servingv1.Service { return liveService(revision, "ghcr.io/acme/shop:v2") },
	} {
		_, got := routed(t, liveManifest, live)
		if !strings.Contains(got, "value: from-the-cluster") || !strings.Contains(got, "tcpSocket") || strings.Contains(got, "400m") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	_, got := routed(t, liveManifest+"        - image: proxy\n          name: from-the-cluster\n          ports:\n            - containerPort: 8080\n",
		func(string) *servingv1.Service {
			live := liveService("shop-00001", "ghcr.io/acme/shop:v1")
			live.Spec.Template.Spec.Containers = append(live.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy"})
			return live
		})
	if !strings.Contains(got, "value: user-container-0") {
		t.Errorf("a name that is taken is given again:\n%s", got)
	}
}

// TestDefaultsStay while the live Service is not known: what the cluster's
// settings added stays with its revision, only the names with the next one.
func TestDefaultsStay(t *testing.T) {
	t.Parallel()
	first, with := routed(t, liveManifest, func(revision string) *servingv1.Service { return liveService(revision, "ghcr.io/acme/shop:v1") })
	for revision, stay := range map[string]bool{first.Revision(): true, "shop-other": false} {
		next, err := first.Route(t.Context(), revision, knative.Split{Stable: revision}.Targets("candidate", true), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		files, err := next.Files()
		if err != nil {
			t.Fatal(err)
		}
		got := string(files["knative-promote-shop.defaults.yaml"])
		if (got == with) != stay || !strings.Contains(got, "value: from-the-cluster") || strings.Contains(got, "400m") != stay {
			t.Errorf("%s:\n%s", revision, got)
		}
	}
}

// TestCheckOthers finds objects that come and go, also one that is called as
// the Knative Service is.
func TestCheckOthers(t *testing.T) {
	t.Parallel()
	unknown := func(string) *servingv1.Service { return nil }
	without, _ := routed(t, liveManifest, unknown)
	for id, manifest := range map[string]string{
		"ConfigMap/settings": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n",
		"Service/shop":       "apiVersion: v1\nkind: Service\nmetadata:\n  name: shop\n",
	} {
		with, _ := routed(t, liveManifest+"---\n"+manifest, unknown)
		for want, states := range map[string][2]*knative.State{id + " (new)": {without, with}, id + " (gone)": {with, without}} {
			err := knative.Check(states[0], states[1], knative.Expected{})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v instead of %s", err, want)
			}
		}
	}
}

// TestCheckSameName refuses another image under an unchanged revision name, as
// Knative does.
func TestCheckSameName(t *testing.T) {
	t.Parallel()
	now, _ := routed(t, liveManifest, func(string) *servingv1.Service { return nil })
	images, err := parseImages([]string{"ghcr.io/acme/shop:v2"})
	if err != nil {
		t.Fatal(err)
	}
	next, err := now.SetImages(t.Context(), images)
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := now.Traffic()
	if err != nil {
		t.Fatal(err)
	}
	err = knative.Check(now, next, knative.Expected{Images: images, Revision: now.Revision(), Traffic: traffic})
	want := "overlay .: this change of Service shop is one that Knative refuses: Saw the following changes without a name change"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v instead of %s…", err, want)
	}
}

// TestPinned warns of a template that changes under its revision's name.
func TestPinned(t *testing.T) {
	t.Parallel()
	named := bytes.Replace([]byte(liveManifest), []byte("    spec:\n"), []byte("    metadata:\n      name: shop-1\n    spec:\n"), 1)
	changed := bytes.Replace(named, []byte(":v1"), []byte(":v2"), 1)
	renamed := bytes.Replace(changed, []byte("shop-1"), []byte("shop-2"), 1)
	for name, c := range map[string]struct {
		before, after []byte
		findings      int
	}{
		"unchanged": {named, named, 0},
		"changed":   {named, changed, 1},
		"renamed":   {named, renamed, 0},
		"unnamed":   {[]byte(liveManifest), bytes.Replace([]byte(liveManifest), []byte(":v1"), []byte(":v2"), 1), 0},
		"new":       {nil, named, 0},
	} {
		findings, err := knative.Pinned(c.before, c.after)
		if err != nil || len(findings) != c.findings {
			t.Errorf("%s: %q, %v", name, findings, err)
		}
		for _, f := range findings {
			if !strings.Contains(f, "Service/shop changes under the pinned revision name shop-1 (/spec/template/spec/containers/0/image)") {
				t.Errorf("%s: %s", name, f)
			}
		}
	}
	if _, err := knative.Pinned([]byte("{"), named); err == nil {
		t.Error("no YAML is no error")
	}
}

// TestLiveOtherwise shifts the traffic of a template that the cluster has otherwise under its name, as
// where Argo CD leaves to the cluster what it is told to ignore. A rollback does it all the same, and no
// edit changes a template under its name.
func TestLiveOtherwise(t *testing.T) {
	t.Parallel()
	manifest := liveManifest + "          env: [{name: LEVEL, value: debug}]\n"
	live := func(revision string) *servingv1.Service {
		service := liveService(revision, "ghcr.io/acme/shop:v1")
		service.Spec.Template.Spec.Containers[0].Env = nil
		return service
	}
	before, _ := routed(t, manifest, live)
	targets := knative.Split{Stable: "shop-00001"}.Targets("candidate", true)
	after, err := before.Route(t.Context(), before.Revision(), targets, nil, live(before.Revision()))
	if err != nil {
		t.Fatal(err)
	}
	other, err := after.SetImages(t.Context(), []kustomize.Image{{Name: "ghcr.io/acme/shop", NewTag: "v2"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		after     *knative.State
		otherwise bool
		refused   bool
	}{{after, false, true}, {after, true, false}, {other, true, true}} {
		err := knative.Check(before, test.after, knative.Expected{Revision: before.Revision(), Traffic: targets, LiveOtherwise: test.otherwise})
		if refused := err != nil && strings.Contains(err.Error(), "Saw the following changes without a name change"); refused != test.refused || err != nil && !refused {
			t.Errorf("otherwise %v: refused %v: %v", test.otherwise, test.refused, err)
		}
	}
}
