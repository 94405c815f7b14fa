package knative_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"knative.dev/pkg/apis"

	"github.com/acme/knative-promote/gitops/knative"
)

// FuzzRoute promotes any Service in any overlay. It must not panic; what Check
// lets pass, Knative must accept; and rolling it back leaves no byte behind.
func FuzzRoute(f *testing.F) {
	seen := map[string]bool{}
	for _, s := range scenarios(f) {
		service, kustomization := s.tree["base/service.yaml"], s.tree["overlay/kustomization.yaml"]
		if service == nil || kustomization == nil || seen[string(service.Data)] {
			continue
		}
		seen[string(service.Data)] = true
		f.Add(service.Data, kustomization.Data, uint8(10))
	}
	f.Fuzz(func(t *testing.T, service, kustomization []byte, share uint8) {
		tree := fstest.MapFS{
			"base/kustomization.yaml":    {Data: []byte("resources:\n  - service.yaml\n"), Mode: 0o644},
			"base/service.yaml":          {Data: service, Mode: 0o644},
			"overlay/kustomization.yaml": {Data: kustomization, Mode: 0o644},
		}
		now, err := knative.Read(t.Context(), tree, "overlay", "")
		if err != nil {
			return
		}
		after, err := promoted(t, now, int(share)%101)
		if err != nil {
			return
		}
		c := newCluster(t, nil)
		if c.apply(now.Manifest, now.Service()) == nil {
			if err := c.apply(after.Manifest, after.Service()); err != nil {
				t.Errorf("Knative refuses what was checked: %v", err)
			}
		}
		back, err := after.RestoreRoute(t.Context(), now, nil)
		if err != nil {
			t.Fatal(err)
		}
		if files, err := back.Files(); err != nil || len(files) > 0 {
			t.Errorf("left over: %q, %v", files, err)
		}
	})
}

// promoted is an overlay with a share for the revision of its template.
func promoted(t *testing.T, now *knative.State, percent int) (*knative.State, error) {
	t.Helper()
	traffic, err := now.Traffic()
	if err != nil {
		return nil, err
	}
	split, err := knative.ReadSplit(traffic, "candidate", knative.MovingTags(now, "candidate"))
	if err != nil {
		return nil, err
	}
	if split.Candidate, err = now.NextRevision(); err != nil {
		return nil, err
	}
	if split.Stable == "" {
		split.Stable = now.Service() + "-00001"
	}
	split.Percent = percent
	targets := split.Targets("candidate", true)
	after, err := now.Route(t.Context(), split.Candidate, targets, nil, nil)
	if err != nil {
		return nil, err
	}
	return after, knative.Check(now, after, knative.Expected{Revision: split.Candidate, Traffic: targets})
}

// FuzzNextRevision names the revisions of a Service with any name and image:
// where Knative takes the Service, it must take the name.
func FuzzNextRevision(f *testing.F) {
	for _, length := range []int{1, 8, 52, 53, 54, 55, 56, 57, 58, 63, 64} {
		f.Add(strings.Repeat("x", length), "ghcr.io/acme/shop:v1")
	}
	f.Add("x-", "shop")
	f.Add("x.y", "shop")
	f.Add("1", "shop")
	f.Fuzz(func(t *testing.T, name, image string) {
		manifest := fmt.Sprintf("apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: %q\nspec:\n  template:\n    spec:\n      containers:\n        - image: %q\n", name, image)
		state, err := knative.Read(t.Context(), fstest.MapFS{
			"kustomization.yaml": {Data: []byte("resources: [service.yaml]\n"), Mode: 0o644},
			"service.yaml":       {Data: []byte(manifest), Mode: 0o644},
		}, ".", "")
		if err != nil {
			return
		}
		c := newCluster(t, nil)
		if c.apply(state.Manifest, state.Service()) != nil {
			return
		}
		revision, err := state.NextRevision()
		if err != nil {
			if len(name) <= 57 {
				t.Errorf("no name for a revision of %q: %v", name, err)
			}
			return
		}
		service := c.known()
		service.Spec.Template.Name = revision
		if err := service.Validate(apis.WithinCreate(c.ctx)).Filter(apis.ErrorLevel); err != nil {
			t.Errorf("revision %q: %v", revision, err)
		}
	})
}

// TestNextRevision is the same for the same template and another one for any
// change of it, but not for its name's.
func TestNextRevision(t *testing.T) {
	t.Parallel()
	manifest := []byte("apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: shop\nspec:\n  template:\n    spec:\n      containers:\n        - image: shop\n          env: []\n")
	plain := nextRevision(t, manifest)
	for name, c := range map[string]struct {
		old, new string
		same     bool
	}{
		"order and comments":     {"    spec:\n", "    # ours\n    spec:\n", true},
		"the template's name":    {"    spec:\n", "    metadata:\n      name: shop-mine\n    spec:\n", true},
		"empty metadata":         {"    spec:\n", "    metadata: {}\n    spec:\n", true},
		"a creation time":        {"    spec:\n", "    metadata:\n      creationTimestamp: null\n    spec:\n", true},
		"the Service's labels":   {"  name: shop\n", "  name: shop\n  labels:\n    team: web\n", true},
		"the image":              {"shop\n          env", "shop:v2\n          env", false},
		"an annotation":          {"    spec:\n", "    metadata:\n      annotations:\n        a: b\n    spec:\n", false},
		"a field of the pod":     {"    spec:\n", "    spec:\n      timeoutSeconds: 7\n", false},
		"a field that is no one": {"    spec:\n", "    spec:\n      shiny: 7\n", false},
	} {
		changed := bytes.Replace(manifest, []byte(c.old), []byte(c.new), 1)
		if bytes.Equal(changed, manifest) {
			t.Fatalf("%s: nothing changed", name)
		}
		if got := nextRevision(t, changed); (got == plain) != c.same {
			t.Errorf("%s: %s after %s", name, got, plain)
		}
	}
}

// TestAfterTaken has a template with one name after another that the cluster has for another template.
func TestAfterTaken(t *testing.T) {
	t.Parallel()
	manifest := "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: shop}\nspec: {template: {spec: {containers: [{image: shop:v1}]}}}\n"
	state, other := stateOf(t, []byte(manifest)), stateOf(t, []byte(strings.Replace(manifest, "v1}", "v2}", 1)))
	name, err := state.NextRevision()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for range 5 {
		names[name] = true
		made, known, errMade := state.Made(name)
		ofOther, _, errOther := other.Made(name)
		if !made || !known || ofOther || errMade != nil || errOther != nil {
			t.Errorf("%s: made %t, known %t, of the other %t: %v, %v", name, made, known, ofOther, errMade, errOther)
		}
		if name, err = knative.AfterTaken(state, name); err != nil {
			t.Fatal(err)
		}
	}
	if len(names) != 5 {
		t.Errorf("%d names, expected 5: %v", len(names), names)
	}
}

func nextRevision(t *testing.T, manifest []byte) string {
	t.Helper()
	name, err := stateOf(t, manifest).NextRevision()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// stateOf is an overlay of a Service alone.
func stateOf(t *testing.T, manifest []byte) *knative.State {
	t.Helper()
	state, err := knative.Read(t.Context(), fstest.MapFS{
		"kustomization.yaml": {Data: []byte("resources: [service.yaml]\n"), Mode: 0o644},
		"service.yaml":       {Data: manifest, Mode: 0o644},
	}, ".", "")
	if err != nil {
		t.Fatal(err)
	}
	return state
}
