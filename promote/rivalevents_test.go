package promote

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/internal/fake/promotetest"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/facts"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/plan"
)

// TestRivalsAmidEvents has two runs promote one Service to different images at once, on
// a real git server, while two things happen to the cluster or by people, others in each
// round, at other requests. At most one promotion wins, the
// promises hold, and a rollback, or what the program says instead, leads to a Service
// that is routed as Git has it.
func TestRivalsAmidEvents(t *testing.T) {
	t.Parallel()
	bare, url := served(t, infraFiles())
	c := &sharedCluster{bare: bare, repo: repoAt(t, url), cluster: newClusterModel()}
	pairs, happened := c.pairs(), 0
	for round := range max(*rivalRounds, len(pairs)) {
		two := pairs[round%len(pairs)]
		what := fmt.Sprintf("round %d, %s, and %s", round, two[0].kind, two[1].kind)
		c.arm(3+round%4, two[:]...)
		contend(t, c, url, round)
		happened += len(two) - len(c.events)
		c.arm(0)
		c.leadOut(t, what, round)
	}
	if happened < len(pairs) { // which one finds its revision depends on who is first
		t.Errorf("only %d events happened", happened)
	}
	t.Logf("reliability: %d events amid promoters of one Service at once, on real git over HTTP: each time the Service was routed again", happened)
	commits, err := promotetest.Commits(bare, "main")
	if err == nil {
		_, err = promotetest.History{Service: "web", Overlay: "web", Commits: commits}.Check(t.Context())
	}
	if err != nil {
		t.Error(err)
	}
}

// contend has two runs promote at once.
func contend(t *testing.T, c *sharedCluster, url string, round int) {
	t.Helper()
	var group, looked sync.WaitGroup
	looked.Add(2)
	ends := make([]event.Status, 2)
	for n := range ends {
		repo := repoAt(t, url)
		group.Go(func() {
			branch := &starting{Repo: repo, looked: &looked}
			defer branch.once.Do(looked.Done) // one that has nothing to push is waited for all the same
			results, err := Run(t.Context(), rivalConfig(fmt.Sprintf("r%d-%d", round, n), plan.Step{Percent: 100}),
				Systems{Branch: branch, Commits: repo, Cluster: c, Facts: facts.Systems{Setup: c}, Reporter: silent{}})
			if ends[n] = results[0].Status; (err == nil) != (ends[n] == event.Promoted) {
				t.Errorf("round %d, promoter %d: %s: %v", round, n, ends[n], err)
			}
		})
	}
	group.Wait()
	if won := slices.DeleteFunc(slices.Clone(ends), func(s event.Status) bool { return s != event.Promoted }); len(won) > 1 {
		t.Errorf("round %d ends %v", round, ends)
	}
}

func rivalConfig(version string, steps ...plan.Step) Config {
	return Config{
		Settings: plan.Settings{CandidateTag: "candidate", KeepPrevious: true, Steps: steps},
		Targets:  []plan.Target{{Overlay: "web", Target: argo.Target{Source: argo.Source{RepoURL: infraURL, Branch: "main", Path: "web"}}}},
		Images:   []kustomize.Image{{Name: "web", NewTag: version}}, Preflight: PreflightError, Skip: allBut("drifted"), OnFailure: RollBack, OnCancel: RollBack, Gates: gate.Settings{Wait: time.Minute},
	}
}

// A sharedCluster is a clusterModel that several runs ask at once.
type sharedCluster struct {
	bareSetup

	bare string
	repo *gitops.Repo

	mu      sync.Mutex
	cluster *clusterModel
	events  []sharedEvent // that are to happen, each as soon as it can
	wait    int           // requests before the next one
}

// arm has events happen after so many requests, each at the first at which it can.
func (s *sharedCluster) arm(after int, events ...sharedEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events, s.wait = events, after
}

// request brings the cluster to the tip, and lets the event happen when it is time.
func (s *sharedCluster) request(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.sync(ctx, false); err != nil {
		return err
	}
	if s.wait--; s.wait < 0 && len(s.events) > 0 && s.events[0].do(ctx) {
		s.events = s.events[1:]
		s.cluster.reconcile()
	}
	return nil
}

// sync brings the cluster to the branch's tip, where Argo CD does so by itself or is told to.
func (s *sharedCluster) sync(ctx context.Context, told bool) error {
	hash, err := os.ReadFile(filepath.Join(s.bare, "refs", "heads", "main"))
	if err != nil || strings.TrimSpace(string(hash)) == s.cluster.synced {
		return err
	}
	tip, err := s.repo.Tip(ctx)
	if err != nil {
		return err
	}
	if s.cluster.manual && !told {
		s.cluster.compare(ctx, tip.Commit.Hash, tip.Tree)
	} else {
		s.cluster.apply(ctx, tip.Commit.Hash, tip.Tree)
	}
	return nil
}

// pairs are the events, as they happen in a round: what needs an old revision beside
// the new one comes first, and what leaves no revision last.
func (s *sharedCluster) pairs() [][2]sharedEvent {
	crash := func(role string) sharedEvent {
		return sharedEvent{"the " + role + " revision begins to crash", func(context.Context) bool { return s.cluster.crash(s.cluster.inRole(role)) }}
	}
	collect := func(role string) sharedEvent {
		return sharedEvent{"the " + role + " revision is collected", func(context.Context) bool { return s.cluster.collect(s.cluster.inRole(role)) }}
	}
	return [][2]sharedEvent{
		{crash("old"), {"somebody tags a revision", func(context.Context) bool { return s.push("Tag a revision", s.tagged) }}},
		{collect("kept"), {"somebody rolls back in Argo CD", s.rollBack}},
		{crash("kept"), crash("new")},
		{collect("old"), collect("new")},
		{{"somebody takes the Service out", func(context.Context) bool { return s.push("Take the Service out", takenOut) }},
			{"the Service is made anew", func(context.Context) bool { s.cluster.remove(); s.cluster.synced = ""; return true }}},
	}
}

// A sharedEvent tells whether it could happen.
type sharedEvent struct {
	kind string
	do   func(context.Context) bool
}

// push has somebody commit what change makes of the tip's files.
func (s *sharedCluster) push(message string, change func(fstest.MapFS) (fstest.MapFS, bool)) bool {
	files, err := promotetest.Files(s.bare, "main")
	if err != nil {
		return false
	}
	files, done := change(files)
	return done && gittest.Commit(s.bare, "main", message, files) == nil
}

func (s *sharedCluster) tagged(files fstest.MapFS) (fstest.MapFS, bool) {
	if s.cluster.created == "" || isOut(files) {
		return nil, false
	}
	return tagged(files, s.cluster.created, "blue")
}

func takenOut(files fstest.MapFS) (fstest.MapFS, bool) { return withoutService(files), !isOut(files) }

// rollBack has Argo CD sync the commit before the tip's parent, and nothing by itself.
func (s *sharedCluster) rollBack(ctx context.Context) bool {
	files, err := promotetest.Files(s.bare, "main~2")
	if err != nil || isOut(files) || s.cluster.service == nil {
		return false
	}
	tip := s.cluster.wanted
	s.cluster.manual = true
	s.cluster.apply(ctx, "an earlier commit", files)
	s.cluster.wanted = tip
	return true
}

// leadOut rolls back, or does what the program says instead, and fails unless the
// Service is routed then.
func (s *sharedCluster) leadOut(t *testing.T, what string, round int) {
	t.Helper()
	for commit := "main"; ; commit += "~" {
		files, err := promotetest.Files(s.bare, commit)
		if err != nil {
			t.Fatal(err)
		}
		if !isOut(files) {
			if commit != "main" {
				err = gittest.Commit(s.bare, "main", "Put the Service in again", files)
			}
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	on := Systems{Branch: s.repo, Commits: s.repo, Cluster: s, Facts: facts.Systems{Setup: s}, Reporter: silent{}}
	result, err := wayOut(t.Context(), rivalConfig(fmt.Sprintf("good-%d", round), plan.Step{Percent: 100}), on, func(string, ...any) {})
	if asked := s.request(t.Context()); asked != nil {
		t.Fatal(asked)
	}
	if why := s.cluster.unrouted(); why != "" || err != nil {
		t.Errorf("%s: %s ends %s, %v: %s", what, result.Command, result.Status, err, s.cluster.text())
	}
	s.cluster.manual = false // somebody switches auto-sync on again
}
