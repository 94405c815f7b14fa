package promote

import (
	"bytes"
	"context"
	"crypto/sha1"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/promotetest"
	"github.com/acme/knative-promote/promote/guard"
)

// append makes a commit of a tree.
func (m *model) append(commit gitops.Commit, tree fstest.MapFS) gitops.Commit {
	commit.Time = time.Now().Add(m.upTo(48*time.Hour) - 24*time.Hour) // clocks are wrong
	if len(m.commits) > 0 {
		commit.Parents = []string{m.commits[m.head].Hash}
	}
	commit.Hash = fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, commit, len(m.commits))))
	m.commits, m.trees = append(m.commits, commit), append(m.trees, tree)
	m.head = len(m.commits) - 1
	m.tell("  commit %.7s %s", commit.Hash, commit.Subject)
	return commit
}

func (m *model) tip() int { return m.head }

func (m *model) snapshot(n int) gitops.Snapshot {
	return gitops.Snapshot{Commit: m.commits[n], Tree: m.trees[n]}
}

func (m *model) find(hash string) int {
	return slices.IndexFunc(m.commits, func(c gitops.Commit) bool { return c.Hash == hash })
}

// others push: mostly elsewhere, now and then to the Service itself, and they do
// to our commits what people do with Git.
func (m *model) others() {
	switch {
	case m.odds("somebody pushes", 6):
		m.push()
	case m.people && m.odds("somebody squashes or rebases all that there is", 12):
		m.rewrite()
	case m.odds("somebody stops the line, or lets it go on", 40):
		m.setStop(m.trees[m.tip()][guard.DefaultWindows] == nil)
	case m.people && m.odds("somebody takes commits back", 60):
		m.touch = true
		m.takeCommitsBack()
	}
}

func (m *model) push() {
	tree := maps.Clone(m.trees[m.tip()])
	tree[fmt.Sprintf("docs/%d", len(m.commits))] = &fstest.MapFile{Data: []byte("by hand")}
	subject := []string{"Write docs", "Merge branch main of infra"}[m.pick.IntN(2)]
	if m.pick.IntN(8) == 0 {
		m.touch = true
		subject = "Promote by hand"
		file := tree["web/kustomization.yaml"]
		tag := fmt.Sprintf("newTag: v%d", 3+m.pick.IntN(3))
		text := string(file.Data)
		for _, old := range []string{"newTag: v1", "newTag: v2"} {
			text = strings.ReplaceAll(text, old, tag)
		}
		tree["web/kustomization.yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	m.append(gitops.Commit{Subject: subject}, tree)
}

// setStop stops the line, or lets it go on.
func (m *model) setStop(stop bool) {
	tree := maps.Clone(m.trees[m.tip()])
	delete(tree, guard.DefaultWindows)
	if stop {
		tree[guard.DefaultWindows] = &fstest.MapFile{Data: []byte("stop: {reason: incident 4711}")}
	}
	m.append(gitops.Commit{Subject: fmt.Sprintf("Stop the line: %t", stop)}, tree)
}

// rewrite gives the branch other commits with the same content. Those from
// before are nowhere any more, or still in the server's store.
func (m *model) rewrite() {
	if m.pick.IntN(2) == 0 {
		for _, commit := range m.commits {
			m.lost[commit.Hash] = true
		}
	}
	m.append(gitops.Commit{Subject: "All so far"}, m.trees[m.tip()])
}

// takeCommitsBack reverts the newest commits, or pushes the branch to where it
// was before.
func (m *model) takeCommitsBack() {
	to := max(0, m.tip()-1-m.pick.IntN(4))
	if m.pick.IntN(2) == 0 {
		m.append(gitops.Commit{Subject: "Revert"}, m.trees[to])
		return
	}
	m.head = to
	m.tell("  branch at %.7s again", m.commits[to].Hash)
}

func (m *model) Tip(ctx context.Context) (gitops.Snapshot, error) {
	ctx, leave := m.enter(ctx)
	defer leave()
	m.others()
	if err := m.happens(ctx, "reading the tip"); err != nil {
		return gitops.Snapshot{}, err
	}
	return m.snapshot(m.tip()), nil
}

// Publish edits the tip until nobody else is first.
func (m *model) Publish(ctx context.Context, change gitops.Change) (gitops.Commit, error) {
	ctx, leave := m.enter(ctx)
	defer leave()
	for {
		m.others()
		if err := m.happens(ctx, "pushing"); err != nil {
			return gitops.Commit{}, err
		}
		tip := m.tip()
		var files map[string][]byte
		var err error
		m.outside(func() { files, err = change.Edit(m.snapshot(tip)) })
		if err != nil {
			return gitops.Commit{}, fmt.Errorf("editing: %w", err)
		}
		if m.others(); m.tip() != tip {
			continue
		}
		tree, changed := applied(m.trees[tip], files)
		if !changed {
			return gitops.Commit{}, gitops.ErrUnchanged
		}
		for _, refusal := range []error{remote.ErrRefused, remote.ErrAuth, gitops.ErrContention} {
			if m.odds("push refused", 150) {
				return gitops.Commit{}, refusal
			}
		}
		commit := m.append(gitops.Commit{Subject: change.Subject}, tree)
		m.noteReady(commit.Hash)
		m.trailers[commit.Hash] = map[string]string{}
		for _, trailer := range change.Trailers {
			m.trailers[commit.Hash][trailer.Key] = trailer.Value
		}
		return commit, m.happens(ctx, "the reply to a push")
	}
}

// noteReady notes which revisions have been ready when a commit was made, and which
// were not then, as far as the program could know.
func (m *model) noteReady(commit string) {
	for name, ready := range m.ready {
		if ready {
			m.readyAt[commit] = append(m.readyAt[commit], name)
		}
		if have := m.cluster.revisions[name]; have == nil || have.why != "" || m.unsure && m.told[name] {
			m.downAt[commit] = append(m.downAt[commit], name)
		}
	}
}

// applied is a tree with files changed, and whether that makes a difference.
func applied(tree fstest.MapFS, files map[string][]byte) (fstest.MapFS, bool) {
	after, changed := maps.Clone(tree), false
	for name, content := range files {
		before, there := tree[name]
		switch {
		case content == nil && there:
			delete(after, name)
			changed = true
		case content != nil && (!there || !bytes.Equal(before.Data, content)):
			after[name] = &fstest.MapFile{Data: content}
			changed = true
		}
	}
	return after, changed
}

// promises tells which of them any commit breaks that there ever was.
func (m *model) promises(ctx context.Context) error {
	history := promotetest.History{Service: "web", Overlay: "web", Ready: m.readyAt, Down: m.downAt}
	for i, c := range m.commits {
		history.Commits = append(history.Commits, promotetest.Commit{
			Hash: c.Hash, Subject: c.Subject, Parents: c.Parents, Trailers: m.trailers[c.Hash], Files: m.trees[i],
		})
	}
	_, err := history.Check(ctx)
	return err
}

// Behind are the commits that the branch has, the newest first: none from before it was rewritten,
// where those are nowhere any more.
func (m *model) Behind(ctx context.Context, commit string, trailer gitops.Trailer, key string) (found []gitops.Message, err error) {
	ctx, leave := m.enter(ctx)
	defer leave()
	if err := m.happens(ctx, "reading commits"); err != nil {
		return nil, err
	}
	for at := m.find(commit); at >= 0 && !m.lost[m.commits[at].Hash]; {
		c := m.commits[at]
		if trailer == (gitops.Trailer{}) || m.trailers[c.Hash][trailer.Key] == trailer.Value {
			found = append(found, gitops.Message{Commit: c.Hash, Tip: c.Hash, Time: c.Time, Values: []string{m.trailers[c.Hash][key]}})
		}
		if len(m.commits[at].Parents) == 0 {
			break
		}
		at = m.find(m.commits[at].Parents[0])
	}
	return found, nil
}

func (m *model) At(ctx context.Context, commit string) (gitops.Snapshot, error) {
	ctx, leave := m.enter(ctx)
	defer leave()
	if err := m.happens(ctx, "reading a commit"); err != nil {
		return gitops.Snapshot{}, err
	}
	if n := m.find(commit); n >= 0 && !m.lost[commit] {
		return m.snapshot(n), nil
	}
	return gitops.Snapshot{}, fmt.Errorf("commit %s: %w", commit, remote.ErrNotFound)
}
