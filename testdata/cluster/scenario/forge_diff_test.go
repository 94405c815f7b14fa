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

// TestForgeDiff shows on a pull request of the infra repository what its
// overlays render to, and after another push to it in the same comment. The
// workflow's own token is all it has.
func TestForgeDiff(t *testing.T) {
	t.Parallel()
	s := newForgeSite(t)
	ctx := t.Context()
	file := s.Overlay + "/patches/scale.yaml"
	scale := func(n string) map[string]string {
		return map[string]string{file: strings.Replace(s.read("./patches/scale.yaml"), `"10"`, `"`+n+`"`, 1)}
	}
	_, err := s.infra.BranchOff(ctx, s.owner, "scale", "Scale further", scale("20"))
	s.must(err)
	pull, err := s.infra.PullRequest(ctx, s.owner, "scale", "Scale further")
	s.must(err)
	s.diff(pull)
	first := s.shows(pull, `+        autoscaling.knative.dev/max-scale: "20"`)

	_, err = s.infra.Commit(ctx, s.owner, "scale", "Scale still further", scale("30"))
	s.must(err)
	s.diff(pull)
	if second := s.shows(pull, `+        autoscaling.knative.dev/max-scale: "30"`); second != first {
		t.Errorf("the second run wrote comment %d, want the first's, %d", second, first)
	}
	if commits := s.commits(); len(commits) > 0 {
		t.Errorf("it made commits: %q", commits)
	}
}

// diff runs the program in a checkout of the pull request, as the workflow of
// the infra repository does.
func (s *forgeSite) diff(pull forge.Pull) {
	s.Helper()
	folder := s.TempDir()
	_, err := gittest.Git(folder, nil, "clone", "--quiet", "--branch", "scale", s.Dir, "checkout")
	s.must(err)
	event := filepath.Join(folder, "event.json")
	s.must(os.WriteFile(event, fmt.Appendf(nil, `{"pull_request": {"number": %d, "base": {"sha": %q, "repo": {"id": 1}}, "head": {"sha": %q, "repo": {"id": 1}}}}`,
		pull.Number, s.Seed, s.git("rev-parse", "scale")), 0o644))
	token := s.tokenOf(s.ci, "read:repository", "write:issue", "read:user")
	r := s.runs("diff", "GITHUB_REPOSITORY="+s.infra.FullName(), "GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH="+event,
		"GITHUB_WORKSPACE="+filepath.Join(folder, "checkout"), "token="+token, "github-token="+token,
		"service=", "path=", "application=", "steps=", "probe=", "probe-connect=").exits(0)
	if warnings := s.told(r, "warning"); len(warnings) > 0 {
		s.Errorf("it warned: %q", warnings)
	}
}

// shows returns the one comment on a pull request, which must be ours and say
// this.
func (s *forgeSite) shows(pull forge.Pull, text string) int64 {
	s.Helper()
	comments, err := s.infra.Comments(s.Context(), pull.Number)
	s.must(err)
	if len(comments) != 1 || comments[0].User.Login != s.ci || !strings.Contains(comments[0].Body, text) {
		s.Fatalf("the comments are %+v, want one of %s that says %s", comments, s.ci, text)
	}
	return comments[0].ID
}
