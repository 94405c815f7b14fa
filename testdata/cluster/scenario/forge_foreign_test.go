//go:build cluster

package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/testdata/cluster/forge"
)

// foreignPushes are how often somebody pushes in TestForgeForeignPushes, and with -short.
const (
	foreignPushes      = 50
	foreignPushesShort = 4
)

// TestForgeForeignPushes has somebody who may write to the repository, and merge nothing, push
// to the branch of the run's own pull request: after it was opened, while its rules are not met,
// after a person has approved of it, and while they are met. Then they are met for what was pushed
// too. A run tells it, or has merged before, and nothing of that comes to main.
func TestForgeForeignPushes(t *testing.T) {
	t.Parallel()
	s := newForgeSite(t)
	rule := forge.Protection{Approvals: 1, Statuses: []string{"lint"}}
	inputs := append(s.reviewedBy(pullCase{way: "squash", inputs: []string{"mode=first-pull-request"}, rule: rule}), "merge-timeout=3m", "steps=100")
	eve := "eve-" + s.ci
	s.must(s.forge.User(t.Context(), eve))
	s.must(s.infra.Collaborator(t.Context(), eve, "write"))
	token := s.tokenOf(eve, "write:repository")
	pushes := foreignPushes
	if testing.Short() {
		pushes = foreignPushesShort
	}
	promoted := 0
	for n := range pushes {
		image := []string{":v2.0.0", ":v1.0.0"}[promoted%2]
		r := s.begins("promote", append([]string{"image=" + s.Image + image, fmt.Sprintf("GITHUB_RUN_ID=%d", n+1)}, inputs...)...)
		r.until([]string{"): open", ": not merged by the forge: "}[min(n%4, 1)])
		open, err := s.infra.Pulls(t.Context())
		s.must(err)
		pull := open[0]
		if n%4 >= 2 {
			s.must(approve(s, pull))
		}
		if n%4 == 3 {
			s.must(passLint(s, pull))
		}
		pull.Head.SHA = s.pushes(eve, token, pull.Head.Ref, n%8 < 4)
		if n%4 < 2 {
			s.must(approve(s, pull))
		}
		s.must(passLint(s, pull))
		switch r.wait().Code {
		case 0:
			promoted++
		case 17:
			r.says("somebody has pushed to its branch " + pull.Head.Ref + ", which is not what was proposed any more: commit " + pull.Head.SHA[:10] + ` by "Eve"`)
		default:
			t.Fatalf("after push %d exit code %d, want 0 or 17", n+1, r.Code)
		}
		if authors := s.git("log", "--format=%an %s", "--author=Eve", "main"); authors != "" || s.comesToMain("evil") {
			t.Fatalf("after push %d main has what she has pushed", n+1)
		}
	}
	t.Logf("%d pushes, %d runs had merged before", pushes, promoted)
}

// comesToMain tells whether a file of main has a text or is named by it.
func (s *forgeSite) comesToMain(text string) bool {
	s.Helper()
	names := s.git("ls-tree", "-r", "--name-only", "main")
	return strings.Contains(names, text) || strings.Contains(s.git("show", "main:"+s.Overlay+"/kustomization.yaml"), text)
}

// pushes has an account push another entry of a file of the change, or a file of its own, to a
// branch, with git, and returns the commit.
func (s *forgeSite) pushes(user, token, branch string, same bool) string {
	s.Helper()
	folder := s.TempDir()
	git := func(args ...string) string {
		out, err := gittest.Git(folder, nil, args...)
		s.must(err)
		return strings.TrimSpace(out)
	}
	git("clone", "--quiet", "--single-branch", "--branch", branch, strings.Replace(s.infra.URL(), "://", "://"+user+":"+token+"@", 1), ".")
	file, text := filepath.Join("apps", "evil.yaml"), "kind: ConfigMap\n"
	if same {
		file = filepath.Join(filepath.FromSlash(s.Overlay), "kustomization.yaml")
		old, err := os.ReadFile(filepath.Join(folder, file))
		s.must(err)
		text = string(old) + "\nconfigMapGenerator:\n  - name: evil\n    literals: [by=eve]\n"
	}
	s.must(os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600))
	git("add", ".")
	git("-c", "user.name=Eve", "-c", "user.email=eve@example.com", "commit", "--quiet", "--message", "More")
	git("push", "--quiet", "origin", "HEAD:refs/heads/"+branch)
	return git("rev-parse", "HEAD")
}
