package promote

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/promote/commit"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// sick is a cluster in which one overlay's new revision fails at a share of
// the traffic.
type sick struct {
	*obedient
	service string
	percent int64
}

// Live is each Service with its own first revision.
func (s *sick) Live(_ context.Context, target argo.Target) (argo.Observed, error) {
	return observedWith(target.Service + "-00001"), nil
}

func (s *sick) Await(ctx context.Context, in argo.Intent, report func(argo.Verdict)) (argo.Observed, error) {
	for _, target := range in.Traffic {
		if in.Service == s.service && target.Tag == "candidate" && *target.Percent == s.percent {
			return argo.Observed{}, errors.New("sick")
		}
	}
	return s.obedient.Await(ctx, in, report)
}

// A pair is an infra repository with the overlays web and cart.
type pair struct {
	t    *testing.T
	bare string
	repo *gitops.Repo
}

func newPair(t *testing.T) pair {
	t.Helper()
	files := infraFiles()
	for name, file := range infraFiles() {
		text := strings.ReplaceAll(string(file.Data), "name: web, ", "name: cart, ")
		files["cart"+strings.TrimPrefix(name, "web")] = &fstest.MapFile{Data: []byte(text)}
	}
	bare, url := served(t, files)
	return pair{t, bare, repoAt(t, url)}
}

// promote promotes overlays in one run, in steps to shares of the traffic.
func (p pair) promote(on Cluster, steps []plan.Step, overlays ...string) ([]event.Result, error) {
	return p.run(pairConfig(steps, overlays...), on)
}

func (p pair) run(c Config, on Cluster) ([]event.Result, error) {
	return Run(p.t.Context(), c, Systems{Branch: p.repo, Commits: p.repo, Cluster: on, Reporter: silent{}})
}

func pairConfig(steps []plan.Step, overlays ...string) Config {
	c := Config{
		Settings: plan.Settings{CandidateTag: "candidate", Steps: steps},
		Images:   []kustomize.Image{{Name: "web", NewTag: "v2"}}, Preflight: PreflightOff, OnFailure: RollBack, OnCancel: Hold, Gates: gate.Settings{Wait: time.Minute},
	}
	for _, overlay := range overlays {
		c.Targets = append(c.Targets, plan.Target{Overlay: overlay})
	}
	return c
}

func (p pair) failing(percent int64) *sick {
	return &sick{&obedient{repo: p.repo, last: "web-00001"}, "cart", percent}
}

// commits are those after the first, oldest first, as subject and changed files.
func (p pair) commits() (commits []string) {
	p.t.Helper()
	log, err := gittest.Git(p.bare, nil, "log", "--reverse", "--skip=0", "--format=%x00%s", "--name-only", "main")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, commit := range strings.Split(log, "\x00")[2:] { // the first is the repository's own
		commits = append(commits, strings.Join(strings.Fields(commit), " "))
	}
	return commits
}

// has tells whether an overlay's kustomization has a text at the tip.
func (p pair) has(overlay, text string) bool {
	p.t.Helper()
	now, err := gittest.Git(p.bare, nil, "show", "main:"+overlay+"/kustomization.yaml")
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.Contains(now, text)
}

// promoteTwo promotes both in one run, and gives the results and the commits.
func promoteTwo(t *testing.T, failing int64) (results []event.Result, commits []string) {
	t.Helper()
	p := newPair(t)
	results, err := p.promote(p.failing(failing), []plan.Step{{Percent: 50}, {Percent: 100}}, "web", "cart")
	if (err == nil) != (failing < 0) {
		t.Errorf("it ended with %v", err)
	}
	return results, p.commits()
}

// TestTargets promotes two targets side by side: one commit a step for both.
func TestTargets(t *testing.T) {
	t.Parallel()
	results, commits := promoteTwo(t, -1)
	for _, r := range results {
		if r.Status != event.Promoted || len(r.Steps) != 3 || r.Steps[1].Commit != results[0].Steps[1].Commit {
			t.Errorf("%s ended %s with the steps %+v", r.Service, r.Status, r.Steps)
		}
	}
	if len(commits) != 4 {
		t.Errorf("commits %q, want three steps and that they have passed", commits)
	}
	for _, commit := range commits {
		if !strings.Contains(commit, "web/") || !strings.Contains(commit, "cart/") || !strings.Contains(commit, ", and 1 more") {
			t.Errorf("commit %q is not of both targets", commit)
		}
	}
}

// TestTargetsRollBackTogether has one of two fail at 50 %: one commit restores
// both.
func TestTargetsRollBackTogether(t *testing.T) {
	t.Parallel()
	results, commits := promoteTwo(t, 50)
	for _, r := range results {
		if r.Status != event.RolledBack || r.Steps[len(r.Steps)-1].Name != record.Restore {
			t.Errorf("%s ended %s with the steps %+v", r.Service, r.Status, r.Steps)
		}
	}
	if len(commits) != 4 || !strings.Contains(commits[2], "back to") || !strings.Contains(commits[2], "web/") || !strings.Contains(commits[2], "cart/") {
		t.Errorf("commits %q, want two steps, one that restores both, and that this has passed", commits)
	}
}

// TestTargetsOneResumed has one of two at 50 % already when the other one's
// candidate fails: both are restored.
func TestTargetsOneResumed(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	if results, err := p.promote(p.failing(-1), []plan.Step{{Percent: 50}}, "web"); err != nil || results[0].Status != event.Held {
		t.Fatalf("%v, %v", results, err)
	}
	results, err := p.promote(p.failing(0), []plan.Step{{Percent: 50}, {Percent: 100}}, "web", "cart")
	for _, r := range results {
		if r.Status != event.RolledBack || !p.has(r.Overlay, "newTag: v1") {
			t.Errorf("%s ended %s, %v, with the steps %+v", r.Overlay, r.Status, err, r.Steps)
		}
	}
	for _, step := range results[0].Steps {
		if step.Progress == event.Pending || step.Progress == event.Running {
			t.Errorf("step %s of a run that has ended is %s", step.Name, step.Progress)
		}
	}
}

// TestTargetsOneFinished has one of two at 100 % already when the other one's
// candidate fails: only that is restored, and only that is said.
func TestTargetsOneFinished(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	if results, err := p.promote(p.failing(-1), []plan.Step{{Percent: 100}}, "web"); err != nil || results[0].Status != event.Promoted {
		t.Fatalf("%v, %v", results, err)
	}
	results, err := p.promote(p.failing(0), []plan.Step{{Percent: 100}}, "web", "cart")
	if got := results[0].Status; got != event.Failed || !p.has("web", "newTag: v2") {
		t.Errorf("web ended %s, %v, expected that it is not said to be rolled back", got, err)
	}
	if got := results[1].Status; got != event.RolledBack || !p.has("cart", "newTag: v1") {
		t.Errorf("cart ended %s, %v, warning %q", got, err, results[1].Warning)
	}
}

// TestTargetsOneSuperseded has a person change one of two before the other
// fails: what fails is restored all the same.
func TestTargetsOneSuperseded(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	on := &changing{p.failing(50), func() error { return p.personTakes("web", "v3") }}
	results, err := p.promote(on, []plan.Step{{Percent: 50}, {Percent: 100}}, "web", "cart")
	if results[0].Status != event.Superseded || !p.has("web", "newTag: v3") {
		t.Errorf("web ended %s, %v", results[0].Status, err)
	}
	if results[1].Status != event.RolledBack || !p.has("cart", "newTag: v1") {
		t.Errorf("cart ended %s, %v", results[1].Status, err)
	}
}

// changing has a person push before a gate fails.
type changing struct {
	*sick
	push func() error
}

func (c *changing) Await(ctx context.Context, in argo.Intent, report func(argo.Verdict)) (argo.Observed, error) {
	seen, err := c.sick.Await(ctx, in, report)
	if err != nil && err.Error() == "sick" {
		err = errors.Join(err, c.push())
	}
	return seen, err
}

// TestTargetsOfOneOverlay has two Services of one overlay, whose kustomization
// only one edit can change.
func TestTargetsOfOneOverlay(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	const want = "path: web is the overlay of two targets: expected one of its own for each"
	if results, err := p.promote(p.failing(-1), []plan.Step{{Percent: 100}}, "web", "web"); err == nil || err.Error() != want || len(results) != 2 {
		t.Errorf("%d results, error %v, want %s", len(results), err, want)
	}
}

// TestMergeRefusesOneFileForTwo has two targets whose edits change one file.
func TestMergeRefusesOneFileForTwo(t *testing.T) {
	t.Parallel()
	same := commit.Edit{Subject: "web: 10 %", Draft: func(gitops.Snapshot) (commit.Draft, error) {
		return commit.Draft{Files: map[string][]byte{"base/kustomization.yaml": nil}}, nil
	}}
	const want = "base/kustomization.yaml is changed for two targets: expected files of their own"
	if _, err := commit.Merge([]commit.Edit{same, same}, func(gitops.Snapshot, []commit.Draft) {}).Edit(gitops.Snapshot{}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestTogetherWaitsForAll has one of two fail at once: the rollback of the
// other must still be announced and seen.
func TestTogetherWaitsForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad, seen := errors.New("bad"), false
		err := together(t.Context(), []bool{true, false}, func(ctx context.Context, fails bool) error {
			if fails {
				return bad
			}
			time.Sleep(time.Second)
			seen = ctx.Err() == nil
			return ctx.Err()
		})
		if !errors.Is(err, bad) || !seen {
			t.Errorf("error %v, the other one was seen: %t", err, seen)
		}
	})
}
