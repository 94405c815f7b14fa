//go:build cluster

package scenario

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// TestCheckSettings is about settings of Argo CD and Knative as a whole, so it
// runs alone.
func TestCheckSettings(t *testing.T) {
	for name, c := range map[string]trouble{
		"health-check-ignored": {
			set:  setting("argocd", "argocd-cm", healthKey, `return {status = "Healthy"}`),
			seen: func(s *site) { s.runs("v2.0.0-exit1"); s.becomes("Synced", "Healthy") },
			fix:  func(s *site) { s.pasteSetting(s.finds("health-check-ignored").Fix) },
			gone: func(s *site) { s.becomes("Synced", "Degraded") },
		},
		"health-generation-blind": {
			seen: func(*site) {}, // in TestFiftyBrokenImages: often, not always
			fix:  func(s *site) { s.pasteSetting(s.finds("health-generation-blind").Fix) },
			gone: (*site).seesBrokenImages,
		},
		"anonymous": {
			inputs: []string{"ARGOCD_AUTH_TOKEN=" + revoked(t)},
			set:    readByEverybody,
			with:   []string{"ARGOCD_AUTH_TOKEN=" + world.Tokens["ci"]},
		},
		"known-type-fields": {
			layout: service(plain),
			set: setting("argocd", "argocd-cm", "resource.customizations.knownTypeFields.serving.knative.dev_Service",
				"- field: spec.template.spec\n  type: core/v1/PodSpec\n"),
			seen: func(s *site) { s.becomes("OutOfSync", "Healthy") },
			fix:  unset("argocd", "argocd-cm", "resource.customizations.knownTypeFields.serving.knative.dev_Service"),
			gone: func(s *site) { s.becomes("Synced", "Healthy") },
		},
		"load-restrictions": {
			set: func(s *site) {
				s.push("Read a file from beside", map[string]string{
					"shared/colour.env":    "COLOUR=green\n",
					"./kustomization.yaml": s.read("./kustomization.yaml") + "configMapGenerator: [{name: colours, envs: [../../../../shared/colour.env]}]\n",
				})
				s.refresh()
			},
			seen: func(s *site) { s.becomes("Unknown", "Healthy") },
			fix: func(s *site) {
				s.Cleanup(func() { unset("argocd", "argocd-cm", "kustomize.buildOptions")(s) })
				s.paste(s.finds("load-restrictions").Fix)
			},
			gone: func(s *site) { s.becomes("Synced", "Healthy") },
		},
		"health-of-children": {
			seen: func(*site) {}, // it is only good to know
			fix:  func(s *site) { s.pasteSetting(s.finds("health-of-children").Fix) },
		},
		"not-looked-at": {
			inputs: []string{"ARGOCD_AUTH_TOKEN=" + world.Tokens["reader"]},
			seen:   func(*site) {}, // it is only good to know
			fix: func(s *site) {
				s.grant(rights(s), s.finds("not-looked-at", "ARGOCD_AUTH_TOKEN="+world.Tokens["reader"]).Fix)
			},
		},
		"application-unreadable": {
			inputs: []string{"ARGOCD_AUTH_TOKEN=" + world.Tokens["reader"]},
			set: func(s *site) {
				s.grant(strings.Replace(rights(s), "p, role:reader, applications, get, */*, allow\n", "", 1), "")
			},
			seen: func(s *site) {
				s.promote("v2.0.0", "steps=100", "ARGOCD_AUTH_TOKEN="+world.Tokens["reader"]).exits(4)
			},
			fix: func(s *site) {
				s.grant(rights(s), s.finds("application-unreadable", "ARGOCD_AUTH_TOKEN="+world.Tokens["reader"]).Fix)
			},
		},
		"host-too-long": {
			set: func(s *site) {
				setting("knative-serving", "config-network", "domain-template", "{{.Name}}-{{.Namespace}}.{{.Domain}}")(s)
				s.Host = s.Service + "-" + s.Namespace + ".example.test"
			},
			with: []string{"candidate-tag=cand", "keep-previous=false"},
			gone: func(s *site) {
				s.promote("v2.5.0", "steps=50,100", "candidate-tag=cand", "keep-previous=false").exits(0)
			},
		},
	} {
		t.Run(name, func(t *testing.T) { c.show(t, name) })
	}
}

// revoked is a token that was good.
func revoked(t *testing.T) string {
	t.Helper()
	token, err := world.Token(t.Context(), "ci", 0)
	if err == nil {
		err = world.Revoke(t.Context(), "ci", token)
	}
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// readByEverybody lets who is nobody see everything, and nobody but who asks
// sync the Application.
func readByEverybody(s *site) {
	setting("argocd", "argocd-rbac-cm", "policy.default", "role:readonly")(s)
	setting("argocd", "argocd-cm", "users.anonymous.enabled", "true")(s)
	s.patchApplication(`[{"op": "remove", "path": "/spec/syncPolicy/automated"}]`)
}

const healthKey = "resource.customizations.health.serving.knative.dev_Service"

// setting sets a key of a ConfigMap until the scenario ends.
func setting(namespace, name, key, value string) func(*site) {
	return func(s *site) {
		s.Helper()
		s.Cleanup(func() { unset(namespace, name, key)(s) })
		s.patchConfig(namespace, name, map[string]any{key: value})
	}
}

// unset takes a key of a ConfigMap away.
func unset(namespace, name, key string) func(*site) {
	return func(s *site) {
		s.Helper()
		s.patchConfig(namespace, name, map[string]any{key: nil})
	}
}

func (s *site) patchConfig(namespace, name string, data map[string]any) {
	s.Helper()
	patch, err := json.Marshal(map[string]any{"data": data})
	s.must(err)
	_, err = kube.Resource(configMaps).Namespace(namespace).Patch(context.WithoutCancel(s.Context()), name, types.MergePatchType, patch, metav1.PatchOptions{})
	s.must(err)
}

// rights are Argo CD's policies.
func rights(s *site) string {
	s.Helper()
	found, err := kube.Resource(configMaps).Namespace("argocd").Get(s.Context(), "argocd-rbac-cm", metav1.GetOptions{})
	s.must(err)
	policies, _, err := unstructured.NestedString(found.Object, "data", "policy.csv")
	s.must(err)
	return policies
}

// grant sets them, with the line for a role that a finding prints, until the scenario ends.
func (s *site) grant(policies, fix string) {
	s.Helper()
	before := rights(s)
	s.Cleanup(func() { s.patchConfig("argocd", "argocd-rbac-cm", map[string]any{"policy.csv": before}) })
	if _, line, found := strings.Cut(fix, "p, ROLE, "); found {
		line, _, _ = strings.Cut(line, "\n")
		policies += "p, role:reader, " + strings.Replace(line, "PROJECT", "default", 1) + "\n" // which a token that may not read it cannot say
	} else if fix != "" {
		s.Fatalf("no right in:\n%s", fix)
	}
	s.patchConfig("argocd", "argocd-rbac-cm", map[string]any{"policy.csv": policies})
}

// pasteSetting puts what a finding says into argocd-cm until the scenario ends.
func (s *site) pasteSetting(fix string) {
	s.Helper()
	_, text, _ := strings.Cut(fix, "\n")
	var data map[string]string
	s.must(yaml.Unmarshal([]byte(text), &data))
	if len(data) == 0 {
		s.Fatalf("no setting in:\n%s", fix)
	}
	for key, value := range data {
		setting("argocd", "argocd-cm", key, value)(s)
	}
}

// runs deploys an image as somebody without promotions does, and waits until
// Knative has given up on it.
func (s *site) runs(tag string) {
	s.Helper()
	s.push("Deploy by hand", map[string]string{"./kustomization.yaml": replaced(s.T, s.read("./kustomization.yaml"), "v1.0.0", tag)})
	s.refresh()
	s.eventually("the Service has failed", func() bool { return s.live().IsFailed() })
}

// seesBrokenImages fails the scenario if `argocd app wait` says of a broken
// image that it is healthy, or cannot say so of a good one.
func (s *site) seesBrokenImages() {
	s.Helper()
	s.must(s.shell(s.Context(), pipeline, "v1.1.0"))
	var all sync.WaitGroup
	for i, tag := range []string{"broken", "exit1", "unready"} {
		other := s.neighbour(i + 1)
		all.Go(func() {
			ctx, stop := context.WithTimeout(s.Context(), 15*time.Second)
			defer stop()
			if err := other.shell(ctx, pipeline, "v2.0.0-"+tag); err == nil {
				s.Errorf("argocd app wait said that %s is healthy", tag)
			}
		})
	}
	all.Wait()
}
