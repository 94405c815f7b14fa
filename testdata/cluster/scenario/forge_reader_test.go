//go:build cluster

package scenario

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// TestForgeReaderProposes has who may only read the infra repository open a pull request by a push, as Gitea allows. It names
// the repository itself as where that comes from, and still nobody who may write has seen it.
func TestForgeReaderProposes(t *testing.T) {
	t.Parallel()
	s := newForgeSite(t)
	reader := "eve-" + s.Service
	s.must(s.forge.User(t.Context(), reader))
	s.must(s.infra.Collaborator(t.Context(), reader, "read"))
	remote, err := url.Parse(s.infra.URL())
	s.must(err)
	remote.User = url.UserPassword(reader, s.tokenOf(reader, "write:repository"))
	work := s.TempDir()
	for _, args := range [][]string{
		{"clone", "--quiet", remote.String(), "."},
		{"-c", "user.name=eve", "-c", "user.email=eve@example.com", "commit", "--quiet", "--allow-empty", "--message=Mine"},
		{"push", "--quiet", "origin", "HEAD:refs/for/main", "-o", "topic=mine"},
	} {
		_, err := gittest.Git(work, nil, args...)
		s.must(err)
	}
	const number = 1 // the repository's first
	event := filepath.Join(s.TempDir(), "event.json")
	s.must(os.WriteFile(event, fmt.Appendf(nil, `{"action": "created", "repository": {"id": 1}, "issue": {"number": %d, "pull_request": {"url": "x"}}}`, number), 0o600))
	r := s.runs("promote", "image="+s.Image+":v2.0.0", "GITHUB_REPOSITORY="+s.infra.FullName(), "GITHUB_EVENT_NAME=issue_comment", "GITHUB_EVENT_PATH="+event,
		"github-token="+s.tokenOf(s.ci, "read:repository", "write:issue", "read:user"))
	s.fails(r, 3, `Bad input: command: "promote": the event issue_comment comes from a fork's pull request that is not merged; expected diff, or a workflow that runs after the merge`)
	if commits := s.commits(); len(commits) > 0 {
		t.Errorf("it made commits: %q", commits)
	}
}
