//go:build cluster

package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/testdata/cluster/container"
)

// pullRequest makes a branch of the infra repository that changes a file, and
// what actions/checkout gives for it: its merge commit with the branch main,
// and nothing before that.
func (s *site) pullRequest(file, content string) (checkout string, event map[string]any) {
	s.Helper()
	work, checkout := s.TempDir(), filepath.Join(s.TempDir(), "infra")
	git := func(dir string, args ...string) string {
		out, err := gittest.Git(dir, nil, append([]string{"-c", "user.name=dev", "-c", "user.email=dev@example.com"}, args...)...)
		s.must(err)
		return out
	}
	git(work, "clone", "--quiet", s.Dir, ".")
	git(work, "checkout", "--quiet", "-b", "change", s.Seed)
	s.must(os.WriteFile(filepath.Join(work, file), []byte(content), 0o644))
	git(work, "commit", "--quiet", "--all", "--message=Change")
	head := git(work, "rev-parse", "HEAD")
	git(work, "checkout", "--quiet", "main")
	git(work, "merge", "--quiet", "--no-ff", "--message=Merge", "change")
	git(work, "push", "--quiet", "--force", "origin", "HEAD:refs/pull/12/merge", "change:refs/pull/12/head")
	s.checkOut(checkout)
	side := func(ref, sha string) map[string]any {
		return map[string]any{"ref": ref, "sha": sha, "repo": map[string]any{"id": 1, "full_name": "acme/infra"}}
	}
	return checkout, map[string]any{
		"number": 12, "repository": map[string]any{"id": 1, "full_name": "acme/infra"},
		"pull_request": map[string]any{"number": 12, "head": side("change", head), "base": side("main", s.Seed)},
	}
}

// checkOut makes of a folder what actions/checkout makes of it for the pull request.
func (s *site) checkOut(folder string) {
	s.Helper()
	s.must(os.MkdirAll(folder, 0o755))
	for _, args := range [][]string{
		{"init", "--quiet", "."},
		{"remote", "add", "origin", "https://github.com/acme/infra"},
		{"fetch", "--quiet", "--no-tags", "--depth=1", "file://" + s.Dir, "+refs/pull/12/merge:refs/remotes/pull/12/merge"},
		{"checkout", "--quiet", "--force", "refs/remotes/pull/12/merge"},
	} {
		_, err := gittest.Git(folder, nil, args...)
		s.must(err)
	}
}

// diffOfPullRequest: the example workflow shows what a pull request changes,
// in one comment, and fails where an overlay no longer renders.
func diffOfPullRequest(t *testing.T, a *shipped) {
	s := prepare(t)
	h := hubOf(s, "acme/infra")
	h.AddPull(githubtest.Pull{Number: 12, State: "open"})
	s.push("Somebody else's", map[string]string{"README.md": "hello\n"}) // the branch has moved on since
	tip := s.git("rev-parse", "main")
	file := s.Overlay + "/kustomization.yaml"
	for _, change := range []struct{ from, to, result, shows string }{
		{"# The pipeline moves this tag.", "# Not a change.", "success", "No overlay would change"},
		{"newTag: v1.0.0", "newTag: v9.0.0", "success", "v9.0.0"},
		{"- ../../base", "- ../../bass", "failure", "bass"},
	} {
		checkout, event := s.pullRequest(file, strings.Replace(s.read(file), change.from, change.to, 1))
		journal := a.run(s, h, container.Workflow{Text: a.workflow(s, "diff.yml"), Event: "pull_request", Payload: event, Checkout: checkout})
		if !slices.Equal(journal.Jobs(), []string{"diff " + change.result}) {
			t.Errorf("%s: jobs ended %q", change.to, journal.Jobs())
		}
		comment, summary := h.comment(s, 12), strings.Join(journal.Summaries(), "")
		if !strings.Contains(comment, change.shows) || !strings.Contains(summary, change.shows) {
			t.Errorf("%s: comment and summary do not show %s:\n%s\n%s", change.to, change.shows, comment, summary)
		}
		if notes := journal.Annotations("error"); (len(notes) > 0) != (change.result == "failure") {
			t.Errorf("%s: annotations: %q", change.to, notes)
		}
	}
	if s.git("rev-parse", "main") != tip {
		t.Error("a diff changed the branch")
	}
}
