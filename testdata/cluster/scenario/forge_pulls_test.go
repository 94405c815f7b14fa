//go:build cluster

package scenario

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/acme/knative-promote/testdata/cluster/forge"
)

// TestForgePullRequests promotes on a branch that takes no push, by each way to
// merge, with rules that are met late or by a person, ends a run in the middle, and
// rolls back.
func TestForgePullRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		way    string
		inputs []string
		rule   forge.Protection
		people func(*forgeSite, forge.Pull) error // what they do with each pull request
	}{
		{"squashed by the forge after a status", "squash", []string{"mode=pull-request"}, forge.Protection{Statuses: []string{"lint"}},
			func(s *forgeSite, p forge.Pull) error {
				return s.infra.Status(context.WithoutCancel(s.Context()), s.owner, p.Head.SHA, "lint", "success")
			}},
		{"merged by a person", "merge", []string{"mode=pull-request", "merge=wait"}, forge.Protection{}, mergedBy("merge")},
		{"rebased by a person", "rebase", []string{"mode=pull-request", "merge=wait"}, forge.Protection{}, mergedBy("rebase")},
		{"squashed by a person", "squash", []string{"mode=pull-request", "merge=wait"}, forge.Protection{}, mergedBy("squash")},
		{"approved by a person, then pushed", "squash", []string{"mode=first-pull-request"}, forge.Protection{Approvals: 1},
			func(s *forgeSite, p forge.Pull) error {
				return s.infra.Approve(context.WithoutCancel(s.Context()), s.owner, p.Number)
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newForgeSite(t)
			s.reviewed = true
			s.token = s.tokenOf(s.ci, "write:repository", "write:issue")
			if c.rule.Approvals > 0 {
				c.rule.Pusher = s.ci
			}
			s.must(s.infra.MergesBy(t.Context(), c.way))
			s.must(s.infra.Protect(t.Context(), forge.Branch, c.rule))
			inputs := append([]string{"image=" + s.Image + ":v2.0.0", "steps=50,100", "merge-timeout=2m"}, c.inputs...)

			// A run that ends while its pull request is open is started again.
			r := s.begins("promote", inputs...)
			r.until("pull request #1")
			r.signal(syscall.SIGKILL)
			r.wait()
			defer s.people(c.people)()
			s.runs("promote", inputs...).exits(0)
			s.settled("v2.0.0")
			s.runs("promote", append([]string{"image=" + s.Image + ":v3.0.0-broken", "merge-timeout=2m"}, c.inputs...)...).exits(8)
			s.settled("v2.0.0")
			s.runs("rollback", append([]string{"merge-timeout=2m"}, c.inputs...)...).exits(0)
			s.settled("v1.0.0")
		})
	}
}

// mergedBy is a person who merges, with the forge's own message.
func mergedBy(way string) func(*forgeSite, forge.Pull) error {
	return func(s *forgeSite, p forge.Pull) error {
		_, err := s.infra.Merge(context.WithoutCancel(s.Context()), s.owner, p.Number, way)
		return err
	}
}

// people look at the open pull requests, each once, until the returned function is
// called.
func (s *forgeSite) people(do func(*forgeSite, forge.Pull) error) (stop func()) {
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		seen := map[string]bool{}
		for {
			open, err := s.infra.Pulls(context.WithoutCancel(s.Context()))
			for _, p := range open {
				if !seen[p.Head.SHA] {
					seen[p.Head.SHA] = true
					err = do(s, p)
				}
			}
			if err != nil {
				s.Errorf("a person: %v", err)
			}
			select {
			case <-ended:
				return
			case <-time.After(500 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(ended)
		<-gone
	}
}
