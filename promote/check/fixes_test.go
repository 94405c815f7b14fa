package check

import (
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
)

// TestFixes puts what a fix offers for the overlay's kustomization there,
// as it says. The rule must then find nothing any more.
func TestFixes(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, c := range scenes(t) {
		id := path.Dir(c.Name)
		for _, rule := range Rules() {
			if rule.ID != id {
				continue
			}
			findings := ask(rule, factsOf(t, c.Path))
			if !offers(findings) {
				continue
			}
			tried[id] = true
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				facts := loadScene(t, c.Path).facts(t)
				fix(t, &facts, findings)
				if left := ask(rule, facts); len(left) > 0 {
					t.Errorf("found again with the fix:\n%s", inFull(left))
				}
			})
		}
	}
	if len(tried) == 0 {
		t.Error("no fix is for the overlay's kustomization")
	}
}

// offered is the part of a fix that is a piece of a kustomization.
func offered(f event.Finding) string {
	for _, key := range []string{"patches:\n", "labels:\n"} {
		if i := strings.Index(f.Fix, "\n"+key); i >= 0 {
			return f.Fix[i+1:]
		}
	}
	return ""
}

func offers(findings []event.Finding) bool {
	for _, f := range findings {
		if offered(f) != "" {
			return true
		}
	}
	return false
}

// fix makes the facts those of a tree with the fixes: patches after the
// others but before the tool's, labels in the place of all others.
func fix(t *testing.T, facts *Facts, findings []event.Finding) {
	t.Helper()
	file, content, err := facts.Overlay.Kustomization()
	if err != nil {
		t.Fatal(err)
	}
	var whole, fix map[string]any
	var before, added types.Kustomization
	for _, f := range findings {
		var part types.Kustomization
		if err := yaml.UnmarshalStrict([]byte(offered(f)), &part); err != nil {
			t.Fatalf("%v in\n%s", err, f.Fix)
		}
		added.Patches = append(added.Patches, part.Patches...)
		added.Labels = append(added.Labels, part.Labels...)
	}
	read(t, content, &whole)
	read(t, content, &before)
	read(t, mustYAML(t, added), &fix)
	if len(added.Labels) > 0 {
		delete(whole, "commonLabels")
		whole["labels"] = fix["labels"]
	}
	at := len(before.Patches)
	for at > 0 && strings.HasPrefix(path.Base(before.Patches[at-1].Path), "knative-promote-") {
		at--
	}
	patches, _ := whole["patches"].([]any)
	more, _ := fix["patches"].([]any)
	whole["patches"] = append(append(append([]any{}, patches[:at]...), more...), patches[at:]...)
	facts.Tree.(fstest.MapFS)[file] = &fstest.MapFile{Data: mustYAML(t, whole)}
	if facts.Overlay, err = knative.Read(t.Context(), facts.Tree, facts.Request.Overlay, facts.Request.Service); err != nil {
		t.Fatal(err)
	}
	facts.Next = facts.Overlay
}

func read(t *testing.T, content []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
}

func mustYAML(t *testing.T, value any) []byte {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
