package review_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/promote/review"
)

// world is a repository on a server, with a forge that merges in it.
type world struct {
	t     *testing.T
	dir   string
	repo  *gitops.Repo
	forge *forge
	ctx   context.Context
	end   func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	dir, err := gittest.Repository{}.Init(root, "infra.git", infra)
	if err != nil {
		t.Fatal(err)
	}
	url, stop, err := (&gittest.Server{Root: root}).Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	repo, err := gitops.Open(remote.Config{URL: url + "/infra.git", Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	repo.Author = gitops.Person{Name: "Ada", Email: "ada@example.com"}
	repo.Committer = repo.Author
	w := &world{t: t, dir: dir, repo: repo}
	w.ctx, w.end = context.WithCancel(t.Context())
	t.Cleanup(w.end)
	w.forge = &forge{world: w, method: "squash"}
	return w
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	out, err := gittest.Git(w.dir, nil, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// endSoon ends the world's context at the third look.
func (w *world) endSoon(looks int) {
	if looks == 3 {
		w.end()
	}
}

// tip is the newest commit of a branch.
func (w *world) tip(branch string) string {
	w.t.Helper()
	tip, err := gittest.Tip(w.dir, branch)
	if err != nil {
		w.t.Fatal(err)
	}
	return tip
}

// commit is somebody else's to main.
func (w *world) commit(file, content string) { w.push("main", file, content) }

func (w *world) push(branch, file, content string) {
	w.t.Helper()
	if err := gittest.Commit(w.dir, branch, "Somebody", fstest.MapFS{file: {Data: []byte(content)}}); err != nil {
		w.t.Fatal(err)
	}
}

// pull is a pull request as the forge keeps it.
type pull struct {
	review.PullRequest
	comment string
	queued  bool
}

// forge has pull requests, and merges with git what it is asked to.
type forge struct {
	*world
	method   string          // merge, squash or rebase
	late     int             // looks until the rules allow a merge
	behind   int             // looks until a merge shows
	blocked  string          // why it may not be merged; empty: it may
	away     error           // the answer to a look
	many     error           // that more are open than are read
	closed   int             // requests to open or to close that find the forge away, from now on
	deaf     error           // the answer to a request to merge
	looked   func(looks int) // before each look
	seen     func(looks int) // after each look
	queue    bool            // what is to be merged goes into a queue
	dequeued func()          // when one is taken out of the queue
	opened   func()          // after one is opened
	refused  func() error    // in the place of opening one

	looks int
	asked int // requests to merge
	pulls []*pull
}

func (f *forge) functions() review.Forge {
	return review.Forge{OpenPulls: f.openPulls, Open: f.open, Pull: f.pull, ClosePull: f.closePull, MergePull: f.mergePull, Dequeue: f.dequeue, DeleteBranch: f.deleteBranch}
}

func (f *forge) openPulls(_ context.Context, base, prefix string) (open []review.PullRequest, err error) {
	for _, p := range f.pulls {
		if p.State == review.Open && strings.HasPrefix(p.Branch, prefix) {
			open = append(open, p.PullRequest)
		}
	}
	return open, f.many
}

func (f *forge) open(_ context.Context, n review.NewPull) (review.PullRequest, error) {
	if f.closed--; f.closed >= 0 {
		return review.PullRequest{}, &review.AwayError{Err: errors.New("503 Service Unavailable")}
	}
	if f.refused != nil {
		return review.PullRequest{}, f.refused()
	}
	if !strings.HasPrefix(n.Body, "The report.\n\nPromotion: 1") {
		return review.PullRequest{}, fmt.Errorf("the body is %q", n.Body)
	}
	for _, p := range f.pulls {
		if p.State == review.Open && p.Branch == n.Branch {
			return p.PullRequest, nil
		}
	}
	number := len(f.pulls) + 1
	f.pulls = append(f.pulls, &pull{PullRequest: review.PullRequest{
		Number: number, URL: fmt.Sprintf("https://forge/%d", number), Branch: n.Branch, State: review.Open, Head: f.tip(n.Branch),
	}})
	if f.opened != nil {
		f.opened()
	}
	return f.pulls[number-1].PullRequest, nil
}

func (f *forge) pull(ctx context.Context, number int) (review.PullRequest, error) {
	f.looks++
	if f.looked != nil && ctx.Err() == nil {
		f.looked(f.looks)
	}
	if f.away != nil {
		return review.PullRequest{}, f.away
	}
	p := f.pulls[number-1]
	if f.seen != nil {
		defer func() { f.seen(f.looks) }()
	}
	if p.State == review.Open {
		p.Head = f.tip(p.Branch)
		p.Block = ""
		if _, err := gittest.Git(f.dir, nil, "merge-tree", "--write-tree", "main", p.Branch); err != nil {
			p.Block = review.Conflict
		}
	}
	if p.queued && f.looks > f.late && p.Block == "" {
		f.merge(number)
	}
	if shown := p.PullRequest; shown.State == review.Merged && f.behind > 0 {
		f.behind--
		shown.State, shown.Merge = review.Open, ""
		return shown, nil
	}
	return p.PullRequest, nil
}

func (f *forge) closePull(_ context.Context, number int, comment string) error {
	if f.closed--; f.closed >= 0 {
		return &review.AwayError{Err: errors.New("503 Service Unavailable")}
	}
	p := f.pulls[number-1]
	if p.State == review.Merged {
		return errors.New("412 it was already merged")
	}
	p.State, p.comment = review.Closed, comment
	return nil
}

func (f *forge) mergePull(_ context.Context, p review.PullRequest, title, body string) (review.Merging, error) {
	if f.deaf != nil {
		return "", f.deaf
	}
	if f.blocked != "" {
		return "", fmt.Errorf("%w: %s", review.ErrNotMergeable, f.blocked)
	}
	f.asked++
	switch {
	case p.Head != f.tip(p.Branch):
		return review.Asked, nil
	case f.queue:
		f.pulls[p.Number-1].queued = true
		return review.Queued, nil
	case f.looks <= f.late:
		return "", fmt.Errorf("%w: a status is missing", review.ErrNotMergeable)
	}
	f.merge(p.Number)
	return review.Done, nil
}

func (f *forge) dequeue(_ context.Context, p review.PullRequest) error {
	f.pulls[p.Number-1].queued = false
	if f.dequeued != nil {
		f.dequeued()
	}
	return nil
}

func (f *forge) deleteBranch(_ context.Context, branch string) error {
	_, err := gittest.Git(f.dir, nil, "branch", "-D", branch)
	return err
}

// update merges main into the branch of a pull request, as the forge's button does.
func (w *world) update(number int) {
	w.t.Helper()
	w.commit("README.md", "somebody else's")
	branch := w.forge.pulls[number-1].Branch
	tree := w.git("merge-tree", "--write-tree", branch, "main")
	commit := w.git("-c", "user.name=Forge", "-c", "user.email=forge@example.com", "commit-tree", tree, "-m", "Update", "-p", branch, "-p", "main")
	w.git("update-ref", "refs/heads/"+branch, commit)
}

// rebase puts a pull request's commit on main, as the forge's button does.
func (w *world) rebase(number int) {
	w.t.Helper()
	w.commit("README.md", "somebody else's")
	branch := w.forge.pulls[number-1].Branch
	tree := w.git("merge-tree", "--write-tree", "main", branch)
	commit := w.git("-c", "user.name=Forge", "-c", "user.email=forge@example.com", "commit-tree", tree, "-m", w.git("log", "-1", "--format=%B", branch), "-p", "main")
	w.git("update-ref", "refs/heads/"+branch, commit)
}

// merge merges as the method says.
func (f *forge) merge(number int) {
	f.t.Helper()
	p := f.pulls[number-1]
	tree, main, head := f.git("merge-tree", "--write-tree", "main", p.Branch), f.tip("main"), f.tip(p.Branch)
	parents := []string{"-p", main}
	if f.method == "merge" {
		parents = append(parents, "-p", head)
	}
	commit := f.git(append([]string{"-c", "user.name=Forge", "-c", "user.email=forge@example.com", "commit-tree", tree, "-m", f.method}, parents...)...)
	f.git("update-ref", "refs/heads/main", commit)
	p.State, p.Head, p.Merge, p.queued = review.Merged, head, commit, false
}
