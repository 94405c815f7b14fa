package promote

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// A model is the infra repository's branch and the cluster, as a seed draws
// what happens to them.
type model struct {
	config Config
	pick   *rand.Rand
	peace  bool // nothing happens any more
	story  []string
	broken error // a promise that was

	commits []gitops.Commit // oldest first
	trees   []fstest.MapFS

	ready map[string]bool // revisions that have been ready
	last  string          // the latest of them
	bad   int             // share from which on the new image shows that it is bad; over 100: never
	touch bool            // a person has changed the Service meanwhile
}

func newModel(seed uint64) *model {
	pick := rand.New(rand.NewPCG(seed, 0))
	m := &model{pick: pick, config: newConfig(pick), ready: map[string]bool{}, bad: []int{0, 10, 50, 100, 101, 101, 101, 101}[pick.IntN(8)]}
	m.append(gitops.Commit{Subject: "Begin"}, fstest.MapFS{
		"web/kustomization.yaml": {Data: []byte("resources: [service.yaml]\nimages:\n- name: web\n  newTag: v1\n")},
		"web/service.yaml": {Data: []byte("apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec:\n" +
			"  template:\n    spec:\n      containers:\n      - image: web\n")},
	})
	m.last = "web-00001"
	m.ready[m.last] = true
	return m
}

func (m *model) tell(format string, args ...any) {
	m.story = append(m.story, fmt.Sprintf("%s ", time.Now().UTC().Format("15:04:05"))+fmt.Sprintf(format, args...))
}

// odds tells whether something happens now, which it does once in so many
// times.
func (m *model) odds(what string, one int) bool {
	if m.peace || m.pick.IntN(one) > 0 {
		return false
	}
	m.tell("- %s", what)
	return true
}

func (m *model) upTo(d time.Duration) time.Duration { return time.Duration(m.pick.Int64N(int64(d))) }

// happens is what can befall any call: it takes its time, fails, or the run
// crashes.
func (m *model) happens(ctx context.Context, call string) error {
	if err := sleep(ctx, m.upTo(2*time.Second)); err != nil {
		return err
	}
	if m.odds("crash in "+call, 60) {
		panic(crash{})
	}
	if m.odds("fault in "+call, 40) {
		return fmt.Errorf("%s: no answer", call)
	}
	return nil
}

// append makes a commit of a tree.
func (m *model) append(commit gitops.Commit, tree fstest.MapFS) gitops.Commit {
	commit.Time = time.Now()
	if n := len(m.commits); n > 0 {
		commit.Parents = []string{m.commits[n-1].Hash}
	}
	commit.Hash = fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, commit, len(m.commits))))
	m.commits, m.trees = append(m.commits, commit), append(m.trees, tree)
	m.tell("  commit %.7s %s", commit.Hash, commit.Subject)
	return commit
}

func (m *model) tip() int { return len(m.commits) - 1 }

// lastOwn is the newest commit of a promotion.
func (m *model) lastOwn() int {
	n := m.tip()
	for n > 0 && m.commits[n].Trailer(trailerID) == "" {
		n--
	}
	return n
}

func (m *model) snapshot(n int) gitops.Snapshot {
	return gitops.Snapshot{Commit: m.commits[n], Tree: m.trees[n]}
}

func (m *model) find(hash string) int {
	return slices.IndexFunc(m.commits, func(c gitops.Commit) bool { return c.Hash == hash })
}

// others push: mostly elsewhere, now and then to the Service itself.
func (m *model) others() {
	if !m.odds("somebody pushes", 6) {
		return
	}
	tree := maps.Clone(m.trees[m.tip()])
	tree[fmt.Sprintf("docs/%d", len(m.commits))] = &fstest.MapFile{Data: []byte("by hand")}
	subject := "Write docs"
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

func (m *model) Tip(ctx context.Context) (gitops.Snapshot, error) {
	m.others()
	if err := m.happens(ctx, "reading the tip"); err != nil {
		return gitops.Snapshot{}, err
	}
	return m.snapshot(m.tip()), nil
}

// Publish edits the tip until nobody else is first.
func (m *model) Publish(ctx context.Context, change gitops.Change) (gitops.Commit, error) {
	for {
		m.others()
		if err := m.happens(ctx, "pushing"); err != nil {
			return gitops.Commit{}, err
		}
		tip := m.tip()
		files, err := change.Edit(m.snapshot(tip))
		if err != nil {
			return gitops.Commit{}, fmt.Errorf("editing: %w", err)
		}
		if m.others(); m.tip() != tip {
			continue
		}
		tree, changed := edited(m.trees[tip], files)
		if !changed {
			return gitops.Commit{}, gitops.ErrUnchanged
		}
		for _, refusal := range []error{gitops.ErrRefused, gitops.ErrAuth, gitops.ErrContention} {
			if m.odds("push refused", 150) {
				return gitops.Commit{}, refusal
			}
		}
		commit := m.append(gitops.Commit{Subject: change.Subject, Trailers: change.Trailers}, tree)
		m.check(ctx, tip)
		return commit, m.happens(ctx, "the reply to a push")
	}
}

// edited is a tree with files changed, and whether that makes a difference.
func edited(tree fstest.MapFS, files map[string][]byte) (fstest.MapFS, bool) {
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

// check notes which promise the newest commit breaks.
func (m *model) check(ctx context.Context, before int) {
	now := m.tip()
	broken := func(format string, args ...any) {
		m.broken = errors.Join(m.broken, fmt.Errorf("commit %.7s: "+format, append([]any{m.commits[now].Hash}, args...)...))
	}
	for name := range m.trees[before] {
		if _, there := m.trees[now][name]; !there && !strings.HasPrefix(name, "web/knative-promote-") {
			broken("it deletes %s", name)
		}
	}
	state, err := knative.Read(ctx, m.trees[now], "web", "web")
	if err != nil {
		broken("%v", err)
		return
	}
	traffic, err := state.Traffic()
	if err != nil {
		broken("%v", err)
	}
	sum := 0
	for _, target := range traffic {
		percent := knative.Percent(target)
		sum += percent
		if percent > 0 && !m.ready[target.RevisionName] {
			broken("%d %% go to %q, which has never been ready", percent, target.RevisionName)
		}
	}
	if len(traffic) > 0 && sum != 100 {
		broken("the traffic sums to %d", sum)
	}
}

func (m *model) At(ctx context.Context, commit string) (gitops.Snapshot, error) {
	if err := m.happens(ctx, "reading a commit"); err != nil {
		return gitops.Snapshot{}, err
	}
	if n := m.find(commit); n >= 0 {
		return m.snapshot(n), nil
	}
	return gitops.Snapshot{}, fmt.Errorf("commit %s: %w", commit, gitops.ErrNotFound)
}

func (m *model) Log(ctx context.Context) iter.Seq2[gitops.Commit, error] {
	return func(yield func(gitops.Commit, error) bool) {
		if err := m.happens(ctx, "reading the history"); err != nil {
			yield(gitops.Commit{}, err)
			return
		}
		for n := m.tip(); n >= 0; n-- {
			if !yield(m.commits[n], nil) {
				return
			}
		}
	}
}

func (m *model) Contains(ctx context.Context, tip, commit string) (bool, error) {
	if err := m.happens(ctx, "comparing commits"); err != nil {
		return false, err
	}
	n := m.find(commit)
	return n >= 0 && n <= m.find(tip), nil
}

func (m *model) observed() argo.Observed {
	live := &servingv1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
	live.Status.LatestReadyRevisionName = m.last
	return argo.Observed{App: &v1alpha1.Application{}, Service: live}
}

func (m *model) Live(ctx context.Context, _ argo.App, _ argo.Source, _ string) (argo.Observed, error) {
	return m.observed(), m.happens(ctx, "looking at the live Service")
}

// Check is what the cluster says of a commit now.
func (m *model) Check(ctx context.Context, in argo.Intent) (argo.Verdict, argo.Observed, error) {
	m.others()
	if err := m.happens(ctx, "asking Argo CD"); err != nil {
		return argo.Verdict{}, argo.Observed{}, err
	}
	tip := m.commits[m.tip()].Hash
	if tip != in.Commit {
		switch ours, err := in.Carries(ctx, tip); {
		case errors.Is(err, argo.ErrBehind):
			return argo.Verdict{State: argo.Wait, Reason: "behind"}, m.observed(), nil
		case err != nil:
			return argo.Verdict{}, argo.Observed{}, err
		case !ours:
			return argo.Verdict{State: argo.Superseded, Reason: "another commit"}, m.observed(), nil
		}
	}
	for _, target := range in.Traffic {
		if target.RevisionName == in.Revision && in.Revision != "web-00001" && m.newImage(in.Images) && knative.Percent(target) >= m.bad {
			return argo.Verdict{State: argo.Failed, Reason: "the image is bad"}, m.observed(), nil
		}
	}
	if in.Revision != "" {
		m.ready[in.Revision], m.last = true, in.Revision
	}
	return argo.Verdict{State: argo.Live, Reason: "live"}, m.observed(), nil
}

func (m *model) newImage(images []string) bool { return slices.Equal(images, []string{"web:v2"}) }

// Await asks until there is an answer. A fault of one request is not the end
// of it, but an Argo CD that is away for long is.
func (m *model) Await(ctx context.Context, in argo.Intent, report func(argo.Verdict)) (argo.Observed, error) {
	away := m.odds("Argo CD goes away", 60)
	for {
		if err := sleep(ctx, time.Second+m.upTo(20*time.Second)); err != nil {
			return m.observed(), err
		}
		verdict, seen, err := m.Check(ctx, in)
		if err != nil || away {
			continue
		}
		report(verdict)
		switch verdict.State {
		case argo.Live:
			return seen, nil
		case argo.Failed:
			return seen, &argo.FailedError{Reason: verdict.Reason}
		case argo.Superseded:
			return seen, fmt.Errorf("%w: %s", argo.ErrSuperseded, verdict.Reason)
		}
	}
}

func (m *model) Revision(ctx context.Context, _ argo.App, _, name string) (*servingv1.Revision, error) {
	if err := m.happens(ctx, "asking for a revision"); err != nil {
		return nil, err
	}
	if !m.ready[name] {
		return nil, argo.ErrNotFound
	}
	return &servingv1.Revision{}, nil
}

func (m *model) Report(Result)    {}
func (m *model) Line(text string) { m.tell("  %s", text) }

// truth compares what a run says with what is in Git.
func (m *model) truth(ctx context.Context, r Result, err error) error {
	// Held is what steps below 100 % ask for, and what is left of a gate's failure.
	if (err == nil) != (r.Status == Promoted || r.Status == Unchanged) && r.Status != Held {
		return fmt.Errorf("status %s with error %v", r.Status, err)
	}
	state, readErr := knative.Read(ctx, m.trees[m.tip()], "web", "web")
	if readErr != nil {
		return readErr
	}
	isNew := m.newImage(state.Images())
	switch {
	case m.touch:
		return nil // then it may be anything, but for what is checked of every commit
	case r.Status == Promoted && (!isNew || m.bad <= m.config.Steps[len(m.config.Steps)-1].Percent):
		return fmt.Errorf("promoted, with images %v, bad from %d %% on", state.Images(), m.bad)
	case r.Status == RolledBack && isNew:
		return fmt.Errorf("rolled back, with images %v", state.Images())
	case r.Status == Held && !isNew:
		return fmt.Errorf("held, with images %v", state.Images())
	case r.Status == Superseded:
		return fmt.Errorf("superseded, yet nobody has changed the Service: %w", err)
	}
	return nil
}
