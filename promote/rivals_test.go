package promote

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/plan"
)

var rivalRounds = flag.Int("rounds", 1, "how often the promoters of TestRivals promote")

const rivals = 8

// TestRivals has eight runs promote one Service to different images at once, in
// an infra repository on a real server, round after round. All have looked
// before the first pushes. One whole promotion wins, the others end superseded,
// and no commit of theirs is between its first and its last.
func TestRivals(t *testing.T) {
	t.Parallel()
	bare, url := served(t, infraFiles())
	c := &obedient{repo: repoAt(t, url), last: "web-00001"}
	for round := range *rivalRounds {
		raceOnce(t, c, url, round)
	}
	checkWinners(t, bare, *rivalRounds)
	t.Logf("reliability: %d promoters of one Service at once, %d rounds on real git over HTTP: one whole promotion won each", rivals, *rivalRounds)
}

func raceOnce(t *testing.T, c *obedient, url string, round int) {
	t.Helper()
	var group, looked sync.WaitGroup
	looked.Add(rivals)
	ends := make([]event.Status, rivals)
	for n := range rivals {
		repo := repoAt(t, url)
		group.Go(func() {
			results, err := Run(t.Context(),
				Config{
					Settings: plan.Settings{CandidateTag: "candidate", Steps: []plan.Step{{Percent: 50}, {Percent: 100}}},
					Targets:  []plan.Target{{Overlay: "web"}}, Images: []kustomize.Image{{Name: "web", NewTag: fmt.Sprintf("r%d-%d", round, n)}}, Preflight: PreflightOff, OnFailure: RollBack, OnCancel: RollBack, Gates: gate.Settings{Wait: time.Minute},
				},
				Systems{Branch: &starting{Repo: repo, looked: &looked}, Commits: repo, Cluster: c, Reporter: silent{}})
			result := results[0]
			ends[n] = result.Status
			if (err == nil) != (result.Status == event.Promoted) || err != nil && !isSuperseded(err) {
				t.Errorf("round %d, promoter %d: %s: %v", round, n, result.Status, err)
			}
		})
	}
	group.Wait()
	slices.Sort(ends)
	if want := append([]event.Status{event.Promoted}, slices.Repeat([]event.Status{event.Superseded}, rivals-1)...); !slices.Equal(ends, want) {
		t.Fatalf("round %d ends %v", round, ends)
	}
}

// served is an infra repository with these files on a real git server.
func served(t *testing.T, files fstest.MapFS) (bare, url string) {
	t.Helper()
	s := &gittest.Server{Root: t.TempDir()}
	bare, err := gittest.Repository{}.Init(s.Root, "infra.git", files)
	if err != nil {
		t.Fatal(err)
	}
	url, stop, err := s.Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return bare, url + "/infra.git"
}

func repoAt(t *testing.T, url string) *gitops.Repo {
	t.Helper()
	repo, err := gitops.Open(remote.Config{URL: url, Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	repo.Author = gitops.Person{Name: "Ada", Email: "ada@example.com"}
	repo.Committer = repo.Author
	return repo
}

// checkWinners fails unless the branch has whole promotions only, one after the
// other, as many as there were rounds.
func checkWinners(t *testing.T, bare string, rounds int) {
	t.Helper()
	log, err := gittest.Git(bare, nil, "log", "--reverse", "--format=%(trailers:key=Promotion,valueonly,separator=) %(trailers:key=Promotion-Step,valueonly,separator=)", "main")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(log, "\n")[1:]
	if len(lines) != 4*rounds {
		t.Fatalf("%d commits, want %d:\n%s", len(lines), 4*rounds, log)
	}
	for round := range rounds {
		id, _, _ := strings.Cut(lines[4*round], " ")
		if got, want := lines[4*round:4*round+4], []string{id + " candidate", id + " 50", id + " 100", id + " 100"}; !slices.Equal(got, want) {
			t.Errorf("round %d: commits %q, want %q", round, got, want)
		}
	}
}

// starting is a Branch to which nobody publishes before all have looked.
type starting struct {
	*gitops.Repo
	looked *sync.WaitGroup
	once   sync.Once
}

func (s *starting) Publish(ctx context.Context, change gitops.Change) (gitops.Commit, error) {
	s.once.Do(func() {
		s.looked.Done()
		s.looked.Wait()
	})
	return s.Repo.Publish(ctx, change)
}

// obedient is a cluster where all that is at the tip is live at once.
type obedient struct {
	repo *gitops.Repo

	mu   sync.Mutex
	last string // the latest ready revision
}

func (o *obedient) observed() argo.Observed {
	o.mu.Lock()
	defer o.mu.Unlock()
	return observedWith(o.last)
}

func (o *obedient) Live(context.Context, argo.Target) (argo.Observed, error) {
	return o.observed(), nil
}

func (o *obedient) Check(ctx context.Context, in argo.Intent) (argo.Verdict, argo.Observed, error) {
	tip, err := o.repo.Tip(ctx)
	if err != nil {
		return argo.Verdict{}, argo.Observed{}, err
	}
	verdict, err := atTip(ctx, in, tip.Commit.Hash)
	if verdict.State == argo.Live && in.Revision != "" {
		o.mu.Lock()
		o.last = in.Revision
		o.mu.Unlock()
	}
	return verdict, o.observed(), err
}

// atTip says what is live of an intent where the tip is live.
func atTip(ctx context.Context, in argo.Intent, tip string) (argo.Verdict, error) {
	if tip == in.Commit {
		return argo.Verdict{State: argo.Live, Reason: "live"}, nil
	}
	switch ours, err := in.Carries(ctx, tip); {
	case errors.Is(err, argo.ErrBehind):
		return argo.Verdict{State: argo.Wait, Reason: "behind"}, nil
	case err != nil:
		return argo.Verdict{}, err
	case !ours:
		return argo.Verdict{State: argo.Superseded, Reason: "another commit"}, nil
	}
	return argo.Verdict{State: argo.Live, Reason: "live"}, nil
}

func (o *obedient) Await(ctx context.Context, in argo.Intent, report func(argo.Verdict)) (argo.Observed, error) {
	for {
		verdict, seen, err := o.Check(ctx, in)
		if err != nil {
			return seen, err
		}
		report(verdict)
		switch verdict.State {
		case argo.Live:
			return seen, nil
		case argo.Superseded:
			return seen, fmt.Errorf("%w: %s", argo.ErrSuperseded, verdict.Reason)
		}
		if err := sleep.For(ctx, 50*time.Millisecond); err != nil {
			return seen, err
		}
	}
}

func (o *obedient) Revision(context.Context, argo.App, string, string) (*servingv1.Revision, error) {
	return firstRevision(), nil
}
