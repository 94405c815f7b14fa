//go:build cluster

package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// TestPrepare goes the other way of docs/configuration.md: a setting is changed by a
// pull request that prepare has added its commit to. However it is merged, no sync is
// refused, nobody gets the change, and a promotion without an image brings it.
func TestPrepare(t *testing.T) {
	t.Parallel()
	s := newSite(t, withSettings, keepSettings)
	s.promote("v2.0.0", "steps=100").exits(0)
	seen := s.watchSyncs()
	for i, how := range [][]string{{"merge", "--no-ff"}, {"merge", "--squash"}, {"rebase", "--force-rebase"}} {
		before := s.live().Spec.Template.Name
		p := s.propose("./settings.env", fmt.Sprintf("COLOUR=green-%d\n", i))
		s.begin("prepare", p.environment()...).wait().exits(0).says("keeps all traffic")
		s.begin("prepare", s.propose("", "").environment()...).wait().exits(0).says("keeps all traffic")
		s.push("Somebody else's", map[string]string{"README.md": strings.Join(how, " ")})
		p.merged(how)
		s.refresh()
		s.eventually("the merge is live, and nobody gets it", func() bool {
			now := s.live()
			name := now.Spec.Template.Name
			return name != before && share(now.Status.Traffic, before) == 100 && share(now.Status.Traffic, name) == 0 && now.IsReady()
		})
		if a := s.ask(s.host()); a.Revision != before {
			t.Errorf("%s: revision %s answers after the merge, want %s", how, a.Revision, before)
		}
		s.begin("promote", "image=unchanged", "steps=50,100").wait().exits(0)
		s.settled("v2.0.0")
		if a := s.ask(s.host()); a.Revision == before {
			t.Errorf("%s: revision %s still answers after the promotion", how, a.Revision)
		}
	}
	if refused := seen.refused(); refused != "" {
		t.Errorf("a sync was refused: %s", refused)
	}
	now := s.live().Spec.Template.Name
	s.begin("rollback").wait().exits(0)
	s.settled("v2.0.0")
	if a := s.ask(s.host()); a.Revision == now {
		t.Errorf("revision %s still answers after the rollback", a.Revision)
	}
	s.push("Paint it without a pull request", map[string]string{"./settings.env": "COLOUR=red\n"})
	s.refresh()
	s.eventually("what is not prepared is seen to be refused", func() bool { return seen.refused() != "" })
}

// A proposal is a pull request of the infra repository: its branch is `change`.
type proposal struct {
	s              *site
	work, checkout string
}

// propose changes a file on the branch, which begins at main if it is not there, and
// makes the merge commit that a forge makes of it. Without a file the branch stays.
func (s *site) propose(file, content string) proposal {
	s.Helper()
	p := proposal{s, s.TempDir(), filepath.Join(s.TempDir(), "infra")}
	p.git("clone", "--quiet", s.Dir, ".")
	p.git("checkout", "--quiet", "-B", "change", "origin/main")
	if file == "" {
		p.git("reset", "--quiet", "--hard", "origin/change")
	} else {
		s.must(os.WriteFile(filepath.Join(p.work, s.Overlay, file), []byte(content), 0o644))
		p.git("commit", "--quiet", "--all", "--message=Change")
		p.git("push", "--quiet", "--force", "origin", "change")
	}
	p.git("checkout", "--quiet", "--detach", "origin/main")
	p.git("merge", "--quiet", "--no-ff", "--message=Merge", "change")
	p.git("push", "--quiet", "--force", "origin", "HEAD:refs/pull/12/merge")
	s.checkOut(p.checkout)
	return p
}

func (p proposal) git(args ...string) {
	p.s.Helper()
	_, err := gittest.Git(p.work, nil, append([]string{"-c", "user.name=dev", "-c", "user.email=dev@example.com"}, args...)...)
	p.s.must(err)
}

// environment is what the runner gives to a step of a workflow for the pull request.
func (p proposal) environment() []string {
	p.s.Helper()
	event, err := json.Marshal(p.event())
	p.s.must(err)
	file := filepath.Join(p.s.TempDir(), "event.json")
	p.s.must(os.WriteFile(file, event, 0o600))
	return []string{"GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH=" + file, "GITHUB_WORKSPACE=" + p.checkout}
}

// event is the pull request as the runner has it.
func (p proposal) event() map[string]any {
	side := func(ref string) map[string]any {
		return map[string]any{"ref": ref, "sha": p.s.git("rev-parse", ref), "repo": map[string]any{"id": 1, "full_name": "acme/infra"}}
	}
	return map[string]any{
		"number": 12, "repository": map[string]any{"id": 1, "full_name": "acme/infra"},
		"pull_request": map[string]any{"number": 12, "state": "open", "head": side("change"), "base": side("main")},
	}
}

// merged merges the branch into main as one of a forge's buttons does.
func (p proposal) merged(how []string) {
	p.s.Helper()
	p.git("fetch", "--quiet", "origin")
	onto, other := "origin/main", "origin/change"
	if how[0] == "rebase" {
		onto, other = other, onto
	}
	p.git("checkout", "--quiet", "--detach", onto)
	p.git(append(how, "--quiet", other)...)
	if how[1] == "--squash" {
		p.git("commit", "--quiet", "--message=Change, squashed")
	}
	p.git("push", "--quiet", "origin", "HEAD:main")
}

// syncs are what Argo CD has said of the Application's syncs.
type syncs struct {
	sync.Mutex
	messages []string
}

// watchSyncs watches the Application until the scenario ends.
func (s *site) watchSyncs() *syncs {
	s.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(s.Context()))
	s.Cleanup(stop)
	seen := &syncs{}
	stream, err := kube.Resource(applications).Namespace(s.App.GetNamespace()).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + s.App.GetName()})
	s.must(err)
	go func() {
		for event := range stream.ResultChan() {
			if object, ok := event.Object.(*unstructured.Unstructured); ok {
				message, _, _ := unstructured.NestedString(object.Object, "status", "operationState", "message")
				seen.Lock()
				seen.messages = append(seen.messages, message)
				seen.Unlock()
			}
		}
	}()
	return seen
}

// refused is what Knative's webhook has said of a template under an old name.
func (s *syncs) refused() string {
	s.Lock()
	defer s.Unlock()
	for _, message := range s.messages {
		if strings.Contains(message, "without a name change") {
			return message
		}
	}
	return ""
}
