//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/event"
	page "github.com/acme/knative-promote/promote/report"
	"github.com/acme/knative-promote/testdata/cluster/forge"
)

// A shop is the service's own repository on the forge, with a pull request.
type shop struct {
	*forgeSite
	repository *forge.Repository
	pull       forge.Pull
	marker     string // that our comment on it begins with
}

// newShop makes a pull request. The account that promotes may comment.
func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{forgeSite: newForgeSite(t)}
	ctx := t.Context()
	var err error
	s.repository, err = s.forge.Repository(ctx, s.owner, "shop", fstest.MapFS{"README": {Data: []byte("A shop.\n")}})
	s.must(err)
	s.must(s.repository.Collaborator(ctx, s.ci, "write"))
	s.pull = s.ask("faster")
	s.marker = page.Marker(event.Result{Target: event.Target{
		Service: s.Service, Environment: "production", Overlay: s.Overlay, Application: s.App.GetName(),
	}}, page.Place{Target: s.forge.URL + "/" + s.infra.FullName() + ".git main"})
	return s
}

// ask makes another pull request.
func (s *shop) ask(branch string) forge.Pull {
	s.Helper()
	_, err := s.repository.BranchOff(s.Context(), s.owner, branch, "Be "+branch, map[string]string{branch: "yes\n"})
	s.must(err)
	pull, err := s.repository.PullRequest(s.Context(), s.owner, branch, "Be "+branch)
	s.must(err)
	return pull
}

// workflow is what a workflow of the repository gives to the program.
func (s *shop) workflow(commit, token string, more ...string) []string {
	return append([]string{"GITHUB_REPOSITORY=" + s.repository.FullName(), "GITHUB_SHA=" + commit, "github-token=" + token}, more...)
}

// ourComments are the ones that we wrote on a pull request.
func (s *shop) ourComments(number int) []forge.Comment {
	s.Helper()
	comments, err := s.repository.Comments(context.WithoutCancel(s.Context()), number)
	s.must(err)
	return slices.DeleteFunc(comments, func(c forge.Comment) bool {
		return c.User.Login != s.ci || !strings.HasPrefix(c.Body, s.marker)
	})
}

// chat lets others comment, and us too: one copies ours, one quotes it. What
// it returns fails the scenario unless all that stands as it was.
func (s *shop) chat() (unharmed func()) {
	s.Helper()
	for _, c := range [][2]string{{s.owner, "Nice."}, {s.owner, s.marker + "\nI can do that too."}, {s.ci, "They wrote: " + s.marker}} {
		_, err := s.repository.Comment(s.Context(), c[0], s.pull.Number, c[1])
		s.must(err)
	}
	before := s.others()
	return func() {
		s.Helper()
		if diff := cmp.Diff(before, s.others()); diff != "" {
			s.Errorf("the comments of others (-before +after):\n%s", diff)
		}
	}
}

func (s *shop) others() []forge.Comment {
	s.Helper()
	comments, err := s.repository.Comments(s.Context(), s.pull.Number)
	s.must(err)
	ours := s.ourComments(s.pull.Number)
	return slices.DeleteFunc(comments, func(c forge.Comment) bool { return slices.Contains(ours, c) })
}

// one fails the scenario unless there is one comment of ours, which says this.
func (s *shop) one(texts ...string) forge.Comment {
	s.Helper()
	ours := s.ourComments(s.pull.Number)
	if len(ours) != 1 {
		s.Fatalf("%d comments of ours, want one: %+v", len(ours), ours)
	}
	for _, text := range texts {
		if !strings.Contains(ours[0].Body, text) {
			s.Errorf("the comment does not say %q:\n%s", text, ours[0].Body)
		}
	}
	return ours[0]
}

// versions collects every state of our comment until the run has ended.
func (s *shop) versions(r *run) []forge.Comment {
	s.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.wait()
	}()
	var seen []forge.Comment
	for running := true; running; {
		select {
		case <-ended:
			running = false // once more, for the last state
		case <-time.After(100 * time.Millisecond):
		}
		for _, c := range s.ourComments(s.pull.Number) {
			if len(seen) == 0 || seen[len(seen)-1].Body != c.Body || seen[len(seen)-1].ID != c.ID {
				seen = append(seen, c)
			}
		}
	}
	return seen
}

// TestForgeComment follows the comment over a whole promotion, between the
// comments of others, and over the rollback after it: one comment, whose steps
// become done one after the other.
func TestForgeComment(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	unharmed := s.chat()
	merged, err := s.repository.Merge(t.Context(), s.owner, s.pull.Number, "squash")
	s.must(err)
	token := s.tokenOf(s.ci, "write:issue", "read:repository", "read:user")
	r := s.begins("promote", s.workflow(merged.Merge, token, "image="+s.Image+":v2.0.0")...)
	seen := s.versions(r)
	r.exits(0)
	s.checkVersions(seen)
	last := s.one("`"+s.Service+"` in `production`: promoted", "v1.0.0", "v2.0.0", "✅ `100 %`", s.forge.URL+"/"+s.repository.FullName()+"/actions/runs/1")
	unharmed()

	s.runs("rollback", s.workflow("", token, fmt.Sprint("pull-request=", s.pull.Number), "reason=wrong prices")...).exits(0)
	if again := s.one("`"+s.Service+"` in `production`: rolled back", "wrong prices"); again.ID != last.ID {
		t.Errorf("the rollback wrote comment %d, want the promotion's, %d", again.ID, last.ID)
	}
	unharmed()
	s.settled("v1.0.0")
}

// checkVersions holds the states of one comment to their order.
func (s *shop) checkVersions(seen []forge.Comment) {
	s.Helper()
	if len(seen) < 3 {
		s.Fatalf("the comment was seen in %d states, want one a step about", len(seen))
	}
	done := -1
	for i, c := range seen {
		now := strings.Count(c.Body, "\n| ✅ ")
		if c.ID != seen[0].ID || now < done {
			s.Errorf("state %d is comment %d with %d steps done, after comment %d with %d", i, c.ID, now, seen[0].ID, done)
		}
		done = now
	}
	if first := seen[0].Body; strings.Contains(first, "promoted") || done != 4 {
		s.Errorf("%d steps are done in the end, want 4; the first state was\n%s", done, first)
	}
}

// TestForgeCommentDeleted deletes our comment in the middle of a promotion.
func TestForgeCommentDeleted(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	unharmed := s.chat()
	token := s.tokenOf(s.ci, "write:issue", "read:repository", "read:user")
	r := s.begins("promote", s.workflow(s.pull.Head.SHA, token, "image="+s.Image+":v2.0.0")...)
	var deleted int64
	s.eventually("the comment is there", func() bool {
		ours := s.ourComments(s.pull.Number)
		if len(ours) == 1 {
			deleted = ours[0].ID
		}
		return deleted != 0
	})
	s.must(s.repository.DeleteComment(t.Context(), deleted))
	r.wait().exits(0)
	if again := s.one("promoted", "✅ `100 %`"); again.ID == deleted {
		t.Error("the comment was not deleted")
	}
	if warnings := s.told(r, "warning"); len(warnings) > 0 {
		t.Errorf("it warned: %q", warnings)
	}
	unharmed()
}

// TestForgeCommentUnderNoName has a token that may not even tell whose it is.
func TestForgeCommentUnderNoName(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	unharmed := s.chat()
	token := s.tokenOf(s.ci, "write:issue", "read:repository")
	s.runs("promote", s.workflow(s.pull.Head.SHA, token, "image="+s.Image+":v2.0.0")...).exits(0)
	first := s.one("promoted")
	s.runs("rollback", s.workflow(s.pull.Head.SHA, token)...).exits(0)
	if second := s.one("rolled back"); second.ID != first.ID {
		t.Errorf("the rollback wrote comment %d, want the promotion's, %d", second.ID, first.ID)
	}
	unharmed()
}

// TestForgeCommentFindsPullRequest looks for the comment where a commit says
// that it belongs: its open pull request, and the one that it was merged as in
// every way that there is.
func TestForgeCommentFindsPullRequest(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	token := s.tokenOf(s.ci, "write:issue", "read:repository", "read:user")
	commits := map[int]string{s.pull.Number: s.pull.Head.SHA}
	for _, way := range []string{"merge", "squash", "rebase"} {
		pull, err := s.repository.Merge(t.Context(), s.owner, s.ask(way).Number, way)
		s.must(err)
		commits[pull.Number] = pull.Merge
	}
	for number, commit := range commits {
		r := s.runs("diff", s.workflow(commit, token, "image="+s.Image+":v2.0.0")...).exits(0)
		if ours := s.ourComments(number); len(ours) != 1 || !strings.Contains(ours[0].Body, "v2.0.0") {
			t.Errorf("pull request %d of commit %s has the comments %+v; it warned %q", number, commit, ours, s.told(r, "warning"))
		}
	}
	r := s.runs("diff", s.workflow(strings.Repeat("0", 40), token, "image="+s.Image+":v2.0.0")...).exits(0)
	if warnings := s.told(r, "warning"); len(warnings) > 0 {
		t.Errorf("for a commit without a pull request it warned %q", warnings)
	}
}

// TestForgeCommentRefused has every no of the forge to a comment. The run ends
// well all the same, with one warning in the forge's words.
func TestForgeCommentRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	locked, hidden := s.ask("locked"), "hidden-"+s.Service
	s.must(s.repository.Lock(ctx, locked.Number))
	for _, user := range []string{"reader-" + s.Service, hidden} {
		s.must(s.forge.User(ctx, user))
	}
	s.must(s.repository.Collaborator(ctx, "reader-"+s.Service, "read"))
	full := []string{"write:issue", "read:repository", "read:user"}
	const on = "Comment not written: commenting on pull request "
	for _, c := range []struct {
		token string
		pull  int
		want  string
	}{
		{strings.Repeat("0", 40), s.pull.Number, on + "1 of OWNER/shop: GitHub answered 401 Unauthorized: invalid username, password or token; the token is wrong or has expired"},
		{s.tokenOf(s.ci, "read:user", "read:issue"), s.pull.Number, on + "1 of OWNER/shop: GitHub answered 403 Forbidden: token does not have at least one of required scope(s), " +
			"required=[write:issue], token scope=read:issue,read:user; the token needs the permission pull-requests: write"},
		{s.tokenOf(hidden, full...), s.pull.Number, on + "1 of OWNER/shop: GitHub answered 404 Not Found: not found; it does not exist, or the token cannot see it"},
		{s.tokenOf("reader-"+s.Service, full...), locked.Number, on + "2 of OWNER/shop: GitHub answered 403 Forbidden: You cannot comment on a locked issue; the token needs the permission pull-requests: write"},
		{s.tokenOf(s.ci, full...), 999, on + "999 of OWNER/shop: GitHub answered 500 Internal Server Error"},
	} {
		r := s.runs("diff", s.workflow("", c.token, "image="+s.Image+":v2.0.0", fmt.Sprint("pull-request=", c.pull))...).exits(0)
		if diff := cmp.Diff([]string{c.want}, s.told(r, "warning")); diff != "" {
			t.Errorf("warnings (-want +got):\n%s", diff)
		}
	}
}
