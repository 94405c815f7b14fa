package promote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/fstest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
)

// A model is the infra repository's branch and the cluster, as a seed draws
// what happens to them.
type model struct {
	bareSetup
	turn

	config  Config
	pick    *rand.Rand
	peace   bool // nothing happens any more
	telling sync.Mutex
	story   []string

	people bool // squash, rebase, revert and force pushes between our commits

	commits  []gitops.Commit // all that there ever were, in the order of their making
	trees    []fstest.MapFS
	trailers map[string]map[string]string // of the program's own, by commit
	readyAt  map[string][]string          // revisions that had been ready when it made them
	head     int                          // the branch's tip
	lost     map[string]bool              // commits that nobody has any more

	cluster *clusterModel
	ready   map[string]bool // revisions that have been ready
	bad     int             // share from which on the new image shows that it is bad; over 100: never
	touch   bool            // a person has changed the Service meanwhile

	downAt map[string][]string // revisions that were gone or not Ready when the program made a commit
	told   map[string]bool     // the run was told of these that they were gone or not Ready
	unsure bool                // the run has asked for a revision without an answer
	shaken bool                // the cluster and the people around it have a hand in this
	events map[string]int      // of that, by kind
	undone string              // the commit of which somebody has rolled the Service back in Argo CD; empty: nobody has
	saw    bool                // the run has seen the Service so
	over   bool                // the run has synced over that
	seen   bool                // nothing of that since the program last saw the cluster, which was as Git says
}

func newModel(seed uint64) *model {
	pick := rand.New(rand.NewPCG(seed, 0))
	m := &model{
		turn: make(turn, 1),
		pick: pick, config: newConfig(pick), people: seed%2 == 0, bad: []int{0, 10, 50, 100, 101, 101, 101, 101}[pick.IntN(8)],
		cluster: newClusterModel(), ready: map[string]bool{}, lost: map[string]bool{},
		trailers: map[string]map[string]string{}, readyAt: map[string][]string{}, downAt: map[string][]string{}, told: map[string]bool{},
		shaken: seed%3 == 0, events: map[string]int{},
	}
	m.cluster.fails = func(images []string) bool { return m.bad == 0 && m.newImage(images) }
	m.append(gitops.Commit{Subject: "Begin"}, infraFiles())
	return m
}

// infra is the infra repository at its beginning.
func infraFiles() fstest.MapFS {
	return fstest.MapFS{
		"web/kustomization.yaml": {Data: []byte("resources: [service.yaml]\nimages:\n- name: web\n  newTag: v1\n")},
		"web/service.yaml": {Data: []byte("apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec:\n" +
			"  template:\n    spec:\n      containers:\n      - image: web\n")},
	}
}

func (m *model) tell(format string, args ...any) {
	m.telling.Lock()
	defer m.telling.Unlock()
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
	if m.odds("crash in "+call, 60) {
		panic(crash{})
	}
	return m.fails(ctx, call)
}

// fails is the same without a crash, for calls that a run makes side by side.
func (m *model) fails(ctx context.Context, call string) error {
	if err := m.wait(ctx, m.upTo(2*time.Second)); err != nil {
		return err
	}
	m.befall(ctx)
	if m.odds("fault in "+call, 40) {
		return fmt.Errorf("%s: no answer", call)
	}
	return nil
}

// observedWith is the live Service with its latest ready revision.
func observedWith(ready string) argo.Observed {
	live := &servingv1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
	live.Status.LatestReadyRevisionName = ready
	return argo.Observed{App: &v1alpha1.Application{}, Service: live}
}

// sync brings the cluster to the branch's tip, where Argo CD does so by itself.
func (m *model) sync(ctx context.Context) {
	if tip := m.commits[m.tip()].Hash; m.cluster.manual {
		m.cluster.compare(ctx, tip, m.trees[m.tip()])
	} else {
		m.cluster.apply(ctx, tip, m.trees[m.tip()])
	}
	m.cluster.reconcile()
	for name, have := range m.cluster.revisions {
		m.ready[name] = m.ready[name] || have.why == ""
	}
}

func (m *model) Live(ctx context.Context, _ argo.Target) (argo.Observed, error) {
	ctx, leave := m.enter(ctx)
	defer leave()
	if err := m.happens(ctx, "looking at the live Service"); err != nil {
		return argo.Observed{}, err
	}
	m.sync(ctx)
	if m.cluster.synced == m.cluster.wanted || m.cluster.service == nil {
		m.undone = ""
	}
	m.saw = m.saw || m.undone != ""
	return m.cluster.look()
}

// Check is what Argo CD and Knative show of a commit now.
func (m *model) Check(ctx context.Context, in argo.Intent) (argo.Verdict, argo.Observed, error) {
	ctx, leave := m.enter(ctx)
	defer leave()
	return m.check(ctx, in, argo.Memory{})
}

func (m *model) check(ctx context.Context, in argo.Intent, before argo.Memory) (argo.Verdict, argo.Observed, error) {
	m.others()
	if err := m.happens(ctx, "asking Argo CD"); err != nil {
		return argo.Verdict{}, argo.Observed{}, err
	}
	m.sync(ctx)
	m.seen = true
	m.saw = m.saw || m.undone != ""
	seen := m.cluster.observed(in)
	var err error
	if seen.Relation, err = relate(ctx, in, m.cluster.wanted); err != nil {
		return argo.Verdict{}, seen, err
	}
	if seen.Relation == argo.Same || seen.Relation == argo.Carrying {
		if seen.Moved, err = argo.Moved(ctx, in, seen.App, seen.Service); err != nil {
			return argo.Verdict{}, seen, err
		}
	}
	verdict := argo.Judge(in, seen, before)
	for _, target := range in.Traffic {
		if verdict.State == argo.Live && target.RevisionName == in.Revision && in.Revision != "web-00001" && m.newImage(in.Images) && knative.Percent(target) >= m.bad {
			return argo.Verdict{State: argo.Failed, Reason: "the image is bad"}, seen, nil
		}
	}
	m.seen = m.seen && verdict.State == argo.Live
	return verdict, seen, nil
}

func (m *model) newImage(images []string) bool {
	return slices.Equal(images, []string{"web:" + m.config.Images[0].NewTag})
}

// Await asks until there is an answer. A fault of one request is not the end
// of it, but an Argo CD that is away for long is. It has Argo CD sync where that
// does not do so by itself.
func (m *model) Await(ctx context.Context, in argo.Intent, report func(argo.Verdict)) (seen argo.Observed, err error) {
	ctx, leave := m.enter(ctx)
	defer leave()
	away := m.odds("Argo CD goes away", 60)
	var before argo.Memory
	since := time.Now()
	for {
		if err := m.wait(ctx, time.Second+m.upTo(20*time.Second)); err != nil {
			return seen, err
		}
		moved, unknown := argo.Moved(ctx, in, m.cluster.application(), m.cluster.observed(in).Service)
		if m.cluster.manual && m.commits[m.tip()].Hash == in.Commit && moved.Service == "" && (in.Restores || len(moved.Beside) == 0) && unknown == nil {
			if m.cluster.service == nil {
				m.undone = "" // what somebody has made of it is gone with it
			}
			m.over = m.over || m.undone != "" && m.cluster.synced != in.Commit && !in.Restores && !maps.Equal(knative.Shares(m.cluster.routed), knative.Shares(in.Traffic))
			m.cluster.apply(ctx, in.Commit, m.trees[m.tip()])
		}
		before.TroubleFor = time.Since(since)
		verdict, now, err := m.check(ctx, in, before)
		if err != nil || away {
			continue
		}
		seen = now
		if verdict.Trouble != before.Trouble {
			before.Trouble, since = verdict.Trouble, time.Now()
		}
		m.outside(func() { report(verdict) })
		if over, err := endedBy(verdict); over {
			return seen, err
		}
	}
}

// firstRevision is the one that Knative made of infra's template. The others
// have names that tell their template, so nobody looks at theirs.
func firstRevision() *servingv1.Revision {
	revision := &servingv1.Revision{}
	revision.Spec.Containers = []corev1.Container{{Image: "web:v1"}}
	return revision
}

// Tell takes its time, as the comment of a pull request does, and the run can
// crash in it. It has no way to fail.
func (m *model) Tell(e event.Event, _ event.Result) {
	switch e.(type) {
	case event.Named, event.Rendered, event.Seen, event.TrafficSet, event.RollbackLeads, event.Warned:
		return // which nobody is shown
	}
	ctx, leave := m.enter(context.Background())
	defer leave()
	_ = m.wait(ctx, m.upTo(5*time.Second)) // it ends with the time
	if m.odds("crash in the report", 60) {
		panic(crash{})
	}
}

func (m *model) Line(text string) { m.tell("  %s", text) }

func (m *model) Debug(text string) { m.tell("  debug: %s", text) }

// truth compares what a run says with what is in Git.
func (m *model) truth(ctx context.Context, r event.Result, err error) error {
	// Held is what steps below 100 % ask for, and what is left of a gate's failure.
	if (err == nil) != (r.Status == event.Promoted || r.Status == event.Unchanged) && r.Status != event.Held {
		return fmt.Errorf("status %s with error %v", r.Status, err)
	}
	state, readErr := knative.Read(ctx, m.trees[m.tip()], "web", "web")
	if errors.Is(readErr, knative.ErrNoService) && m.touch {
		return nil
	}
	if readErr != nil {
		return readErr
	}
	isNew := m.newImage(state.Images())
	switch {
	case m.over:
		return fmt.Errorf("synced over what somebody has made of the Service since %s", m.undone)
	case m.saw && r.Status == event.Promoted:
		return fmt.Errorf("promoted over a rollback in Argo CD from %s", m.undone)
	case m.touch:
		return nil // then it may be anything, but for what is checked of every commit
	case r.Status == event.Promoted && (!isNew || m.bad <= m.config.Steps[len(m.config.Steps)-1].Percent):
		return fmt.Errorf("promoted, with images %v, bad from %d %% on", state.Images(), m.bad)
	case r.Status == event.RolledBack && isNew:
		return fmt.Errorf("rolled back, with images %v", state.Images())
	case r.Status == event.Held && !isNew:
		return fmt.Errorf("held, with images %v", state.Images())
	case r.Status == event.Superseded:
		return fmt.Errorf("superseded, yet nobody has changed the Service: %w", err)
	}
	return nil
}
