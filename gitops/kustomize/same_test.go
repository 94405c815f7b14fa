package kustomize

import (
	"strings"
	"testing"
)

// TestSameButTags has what runs change of a kustomization, and what they do not.
func TestSameButTags(t *testing.T) {
	t.Parallel()
	const base = "resources: [a.yaml]\nimages:\n  - {name: a, newTag: v1}\n  - {name: z, newTag: v1}\n  - {name: b, newName: c}\npatches:\n  - path: p.yaml\n"
	for name, test := range map[string]struct {
		other string
		want  bool
	}{
		"nothing":                  {base, true},
		"a tag":                    {strings.Replace(base, "a, newTag: v1", "a, newTag: v2", 1), true},
		"a digest":                 {strings.Replace(base, "newTag: v1", "digest: sha256:00", 1), true},
		"a tag by another name":    {strings.Replace(base, "newName: c", "newName: c, newTag: v1", 1), true},
		"a tag of another's image": {strings.Replace(base, "z, newTag: v1", "z, newTag: v2", 1), false},
		"a tag of before":          {strings.Replace(base, "a, newTag: v1", "a, newTag: v0", 1), false},
		"a new entry":              {strings.Replace(base, "patches:", "  - {name: d, newTag: v1}\npatches:", 1), false},
		"another name":             {strings.Replace(base, "newName: c", "newName: d", 1), false},
		"a name":                   {strings.Replace(base, "patches:", "  - {name: d, newName: e}\npatches:", 1), false},
		"a patch":                  {base + "  - path: q.yaml\n", false},
		"our patch":                {base + "  - path: own.yaml\n", true},
		"a resource":               {strings.Replace(base, "[a.yaml]", "[a.yaml, b.yaml]", 1), false},
		"no YAML":                  {"[", false},
	} {
		if got := SameButTags([]byte(base), []byte(test.other), []string{"a:v2", "a@sha256:00", "c:v1"}, func(file string) bool { return file == "own.yaml" }); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
