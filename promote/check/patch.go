package check

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/jsonpointer"
)

// A change is one operation of a JSON6902 patch.
type change struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// patch is what to add to the overlay's kustomization to make changes of the
// Service: an entry after the other patches, but before the tool's own, which
// must stay the last ones. Empty where the Service cannot be selected.
func (f Facts) patch(changes ...change) string {
	operations, err := yaml.Marshal(changes)
	if err != nil {
		return ""
	}
	return f.patchEntry(operations)
}

func (f Facts) patchEntry(operations []byte) string {
	target, err := knative.PatchTarget(f.Overlay)
	if err != nil {
		return ""
	}
	body := strings.ReplaceAll(strings.TrimSpace(string(operations)), "\n", "\n      ")
	return fmt.Sprintf("# in %s, after the other patches but before those of knative-promote\npatches:\n  - target: {group: %s, version: %s, kind: %s, name: %s}\n    patch: |-\n      %s",
		f.inKustomization().File, target.Group, target.Version, target.Kind, target.Name, body)
}

// keys are the steps of a JSON pointer as where takes them: strings into
// mappings, numbers into lists.
func keys(pointer string) []any { return numbered(jsonpointer.Split(pointer)) }

// numbered are steps with numbers for the texts that are one.
func numbered(steps []string) []any {
	var all []any
	for _, step := range steps {
		if i, err := strconv.Atoi(step); err == nil {
			all = append(all, i)
		} else {
			all = append(all, step)
		}
	}
	return all
}

// readable are the steps as people write them: spec.containers[0].image.
func readable(steps []any) string {
	var b strings.Builder
	for i, step := range steps {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if i > 0 {
				b.WriteString(".")
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// lines are one line for each text, in the place of %s.
func lines(texts []string, format string) string {
	var all []string
	for _, text := range texts {
		all = append(all, fmt.Sprintf(format, text))
	}
	return strings.Join(all, "\n")
}

// count is a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
