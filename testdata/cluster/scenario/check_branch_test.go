//go:build cluster

package scenario

import (
	"strings"
	"testing"
)

// TestCheckBranch: what the branch has is not what Argo CD deploys.
func TestCheckBranch(t *testing.T) {
	troubles(t, map[string]trouble{
		"image-not-synced": {
			set: func(s *site) {
				s.patchApplication(`[{"op": "remove", "path": "/spec/syncPolicy/automated"}]`)
				s.push("Deploy by hand", map[string]string{"./kustomization.yaml": replaced(s.T, s.read("./kustomization.yaml"), "v1.0.0", "v1.1.0")})
				s.refresh()
			},
			seen: func(s *site) { s.becomes("OutOfSync", "Healthy") },
		},
		"branch-has-namesakes": {
			set: func(s *site) {
				s.git("update-ref", "refs/tags/main", s.Seed)
				s.refresh()
			},
			seen: func(*site) {}, // Argo CD takes either, by the order in which it lists them
			fix: func(s *site) {
				_, refs, found := strings.Cut(s.finds("branch-has-namesakes").Fix, "git push REPOSITORY ")
				if !found {
					s.Fatal("nothing to push")
				}
				refs, _, _ = strings.Cut(refs, "\n")
				s.git(append([]string{"push", "--quiet", s.Dir}, strings.Fields(refs)...)...)
				s.refresh()
			},
		},
	})
}
