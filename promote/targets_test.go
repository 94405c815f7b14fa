package promote

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/gittest"
	"github.com/acme/knative-promote/gitops/kustomize"
)

// sick is a cluster in which one overlay's new revision fails at a share of
// the traffic.
type sick struct {
	*obedient
	service string
	percent int64
}

func (s *sick) Await(ctx context.Context, in argo.Intent, report func(argo.Verdict)) (argo.Observed, error) {
	for _, target := range in.Traffic {
		if in.Service == s.service && target.Tag == "candidate" && *target.Percent == s.percent {
			return argo.Observed{}, errors.New("sick")
		}
	}
	return s.obedient.Await(ctx, in, report)
}

// promoteTwo promotes two overlays of one repository in one run, and gives the
// results and the commits, oldest first, as subject and changed files.
func promoteTwo(t *testing.T, failing int64) (results []Result, commits []string) {
	t.Helper()
	s := &gittest.Server{Root: t.TempDir()}
	files := infraFiles()
	for name, file := range infraFiles() {
		text := strings.ReplaceAll(string(file.Data), "name: web, ", "name: cart, ")
		files["cart"+strings.TrimPrefix(name, "web")] = &fstest.MapFile{Data: []byte(text)}
	}
	bare, err := gittest.Repository{}.Init(s.Root, "infra.git", files)
	if err != nil {
		t.Fatal(err)
	}
	url, stop, err := s.Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	repo := repoAt(t, url+"/infra.git")
	results, err = Run(t.Context(),
		Config{
			Targets: []Target{{Overlay: "web"}, {Overlay: "cart"}}, Images: []kustomize.Image{{Name: "web", NewTag: "v2"}}, CandidateTag: "candidate",
			Steps: []Step{{Percent: 50}, {Percent: 100}}, Preflight: PreflightOff, OnFailure: RollBack, OnCancel: Hold, WaitTimeout: time.Minute,
		},
		Systems{Branch: repo, Commits: repo, Cluster: &sick{&obedient{repo: repo, last: "web-00001"}, "cart", failing}, Reporter: silent{}})
	if (err == nil) != (failing < 0) {
		t.Errorf("it ended with %v", err)
	}
	log, err := gittest.Git(bare, nil, "log", "--reverse", "--skip=0", "--format=%x00%s", "--name-only", "main")
	if err != nil {
		t.Fatal(err)
	}
	for _, commit := range strings.Split(log, "\x00")[2:] { // the first is the repository's own
		commits = append(commits, strings.Join(strings.Fields(commit), " "))
	}
	return results, commits
}

// TestTargets promotes two targets side by side: one commit a step for both.
func TestTargets(t *testing.T) {
	t.Parallel()
	results, commits := promoteTwo(t, -1)
	for _, r := range results {
		if r.Status != Promoted || len(r.Steps) != 3 || r.Steps[1].Commit != results[0].Steps[1].Commit {
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
		if r.Status != RolledBack || r.Steps[len(r.Steps)-1].Name != stepRestore {
			t.Errorf("%s ended %s with the steps %+v", r.Service, r.Status, r.Steps)
		}
	}
	if len(commits) != 4 || !strings.Contains(commits[2], "back to") || !strings.Contains(commits[2], "web/") || !strings.Contains(commits[2], "cart/") {
		t.Errorf("commits %q, want two steps, one that restores both, and that this has passed", commits)
	}
}

// TestMergeRefusesOneFileForTwo has two targets whose edits change one file.
func TestMergeRefusesOneFileForTwo(t *testing.T) {
	t.Parallel()
	same := edit{subject: "web: 10 %", files: func(gitops.Snapshot) (map[string][]byte, error) {
		return map[string][]byte{"base/kustomization.yaml": nil}, nil
	}}
	const want = "base/kustomization.yaml is changed for two targets: expected files of their own"
	if _, err := merge([]edit{same, same}).Edit(gitops.Snapshot{}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
