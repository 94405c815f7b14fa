//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/acme/knative-promote/internal/fake/signingtest"
	"github.com/acme/knative-promote/testdata/cluster/forge"
)

// A pullCase is one way in which commits come to a branch that takes no push.
type pullCase struct {
	name   string
	way    string // in which the repository merges
	inputs []string
	rule   forge.Protection
	killed moment
	people func(*forgeSite, forge.Pull) error // what they do with each pull request; nil: nothing
}

// A moment in the life of a pull request.
type moment string

const (
	opened  moment = "opened"
	blocked moment = "blocked" // the rules are not met
	merged  moment = "merged"  // by a person, and the run has not seen that
)

// pullCases have each way to merge by the forge and by a person, each rule, and
// each moment at which a run may end; the first one is the one that is recommended.
func pullCases() []pullCase {
	every := []string{"mode=pull-request"}
	wait := []string{"mode=pull-request", "merge=wait"}
	lint := forge.Protection{Statuses: []string{"lint"}}
	return []pullCase{
		{"approved by a person, then pushed", "squash", []string{"mode=first-pull-request"}, forge.Protection{Approvals: 1}, opened, approve},
		{"squashed by the forge after a status", "squash", every, lint, blocked, passLint},
		{"merged by the forge after a status", "merge", every, lint, blocked, passLint},
		{"rebased by the forge after an approval", "rebase", every, forge.Protection{Approvals: 1}, blocked, approve},
		{"merged by the forge at once", "merge", every, forge.Protection{}, opened, nil},
		{"squashed on the branch's tip alone", "squash", every, forge.Protection{Statuses: []string{"lint"}, Current: true}, blocked, overtaken()},
		{"moved forward after a status", "fast-forward-only", every, lint, blocked, overtaken()},
		{"merged by a person", "merge", wait, forge.Protection{}, opened, mergedBy("merge")},
		{"rebased by a person", "rebase", wait, forge.Protection{}, merged, mergedBy("rebase")},
		{"squashed by a person", "squash", wait, forge.Protection{}, opened, mergedBy("squash")},
		{"signed, squashed by the forge", "squash", every, forge.Protection{Signed: true}, opened, nil},
		{"signed, merged by the forge after a status", "merge", every, forge.Protection{Signed: true, Statuses: []string{"lint"}}, blocked, passLint},
		{"signed, rebased by a person, then pushed", "rebase", []string{"mode=first-pull-request", "merge=wait"}, forge.Protection{Signed: true}, merged, mergedBy("rebase")},
	}
}

// TestForgePullRequests promotes on a branch that takes no push, by each way to
// merge, with rules that are met late or by a person, ends a run in the middle,
// rolls back, and reads the history of all that.
func TestForgePullRequests(t *testing.T) {
	t.Parallel()
	for n, c := range pullCases() {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && n > 0 {
				t.Skip("takes minutes, and the first case has the way that is recommended")
			}
			t.Parallel()
			s := newForgeSite(t)
			inputs := append(s.reviewedBy(c), "merge-timeout=5m")

			s.killedAt(c, append([]string{"image=" + s.Image + ":v2.0.0", "steps=50,100"}, inputs...)...)
			defer s.people(c.people)()
			s.runs("promote", append([]string{"image=" + s.Image + ":v2.0.0", "steps=50,100"}, inputs...)...).exits(0)
			s.settled("v2.0.0")
			s.runs("promote", append([]string{"image=" + s.Image + ":v3.0.0-broken"}, inputs...)...).exits(8)
			s.settled("v2.0.0")
			s.runs("rollback", inputs...).exits(0)
			s.settled("v1.0.0")
			s.remembers("rollback", "rolled-back", "promoted")
			if c.rule.Signed {
				s.allVerified()
			}
		})
	}
}

// reviewedBy sets the branch's rule, and returns the inputs for it.
func (s *forgeSite) reviewedBy(c pullCase) []string {
	s.Helper()
	s.reviewed = true
	s.token = s.tokenOf(s.ci, "write:repository", "write:issue")
	if c.inputs[0] == "mode=first-pull-request" {
		c.rule.Pusher = s.ci
	}
	inputs := c.inputs
	if c.rule.Signed {
		inputs = append(inputs, s.signs(s.ci)...)
		s.signs(s.owner)
	}
	s.must(s.infra.MergesBy(s.Context(), c.way))
	s.must(s.infra.Protect(s.Context(), forge.Branch, c.rule))
	return inputs
}

// signs gives an account a key, and returns the inputs to sign with it.
func (s *forgeSite) signs(user string) []string {
	s.Helper()
	address := user + "@example.com"
	key := signingtest.Of(s.T, user+" <"+address+">")
	s.must(s.forge.Trust(s.Context(), user, key.Public))
	return []string{"author-name=" + user, "author-email=" + address, "signing-key=" + key.Private}
}

// killedAt kills a run at the case's moment in the life of its first pull request.
func (s *forgeSite) killedAt(c pullCase, inputs ...string) {
	s.Helper()
	r := s.begins("promote", inputs...)
	r.until("pull request #1")
	if c.killed == blocked {
		r.until(": not merged by the forge: ")
	}
	r.signal(syscall.SIGKILL)
	r.wait()
	if c.killed != merged {
		return
	}
	first, err := s.infra.Pull(s.Context(), 1)
	s.must(err)
	s.must(c.people(s, first))
	s.eventually("pull request #1 is merged", func() bool {
		first, err := s.infra.Pull(s.Context(), 1)
		return err == nil && first.Merged
	})
}

// remembers fails the scenario unless the history has ended so, newest first.
func (s *forgeSite) remembers(want ...string) {
	s.Helper()
	r := s.runs("history").exits(0)
	var ends []string
	for line := range strings.Lines(r.log.String()) {
		if _, row, found := strings.Cut(line, " UTC  "); found {
			ends = append(ends, strings.Fields(row)[0])
		}
	}
	if got := strings.Join(ends, " "); got != strings.Join(want, " ") {
		s.Errorf("the history has %s, want %q", got, want)
	}
}

// allVerified fails the scenario unless the forge knows the signature of every
// commit since the scenario began.
func (s *forgeSite) allVerified() {
	s.Helper()
	commits := strings.Fields(s.git("rev-list", s.Seed+"..main"))
	if len(commits) == 0 {
		s.Error("there are no commits")
	}
	for _, commit := range commits {
		verified, err := s.infra.Verified(s.Context(), commit)
		s.must(err)
		if !verified {
			s.Errorf("commit %s is not signed by anybody that the forge knows", s.git("show", "-s", "--format=%h %cn %s", commit))
		}
	}
}

// mergedBy is a person who merges, with the forge's own message.
func mergedBy(way string) func(*forgeSite, forge.Pull) error {
	return func(s *forgeSite, p forge.Pull) error {
		_, err := s.infra.Merge(context.WithoutCancel(s.Context()), s.owner, p.Number, way)
		return err
	}
}

// approve is a person who says yes.
func approve(s *forgeSite, p forge.Pull) error {
	return s.infra.Approve(context.WithoutCancel(s.Context()), s.owner, p.Number)
}

// passLint is what sets the status that is required.
func passLint(s *forgeSite, p forge.Pull) error {
	return s.infra.Status(context.WithoutCancel(s.Context()), s.owner, p.Head.SHA, "lint", "success")
}

// overtaken is the same after somebody else's commit has come to the branch first, for every second pull request.
func overtaken() func(*forgeSite, forge.Pull) error {
	n := 0
	return func(s *forgeSite, p forge.Pull) error {
		if n++; n%2 == 1 {
			s.push(fmt.Sprintf("Notes %d", n), map[string]string{fmt.Sprintf("NOTES-%d.md", n): "words\n"})
		}
		return passLint(s, p)
	}
}

// people look at the open pull requests, each once, until the returned function is
// called.
func (s *forgeSite) people(do func(*forgeSite, forge.Pull) error) (stop func()) {
	if do == nil {
		return func() {}
	}
	seen := map[string]bool{}
	return s.person(func() error {
		open, err := s.infra.Pulls(context.WithoutCancel(s.Context()))
		for _, p := range open {
			if !seen[p.Head.SHA] {
				seen[p.Head.SHA] = true
				err = do(s, p)
			}
		}
		return err
	})
}

// TestForgeWantsSignatures has what a forge says where the branch takes signed
// commits alone, and nobody signs: nothing comes to the branch.
func TestForgeWantsSignatures(t *testing.T) {
	t.Parallel()
	s := newForgeSite(t)
	s.reviewed = true
	s.token = s.tokenOf(s.ci, "write:repository", "write:issue")
	image := "image=" + s.Image + ":v2.0.0"
	s.must(s.infra.Protect(t.Context(), forge.Branch, forge.Protection{Push: true, Signed: true}))
	// Gitea 1.26 does not get to its own words for it (isErrUnverifiedCommit in
	// routers/private/hook_verification.go takes no wrapped error).
	s.fails(s.runs("promote", image), 12, "Push refused: candidate: pushing to FORGE/OWNER/infra.git: refused by the server: pre-receive hook declined: "+
		"Internal Server Error (no message for end users): let the token's owner push to the branch, or change the rule")

	// The forge signs merges of those alone who have a key with it.
	r := s.runs("promote", image, "mode=first-pull-request", "merge-timeout=40s").exits(17).says("not merged by the forge: wont sign: pubkey")
	if commits := s.commits(); len(commits) > 0 {
		t.Errorf("%s: it made commits: %q", r.output("status"), commits)
	}
	s.answersOnly("v1.0.0")

	// What is pushed is signed by its author.
	s.runs("promote", append(s.signs(s.ci), image)...).exits(0)
	s.settled("v2.0.0")
	s.allVerified()
}
