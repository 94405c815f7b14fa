package review

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/sleep"
)

// Merge says who merges the pull requests.
type Merge string

// The kinds of merge.
const (
	Auto Merge = "auto" // the run, as soon as the branch's rules allow it
	Wait Merge = "wait" // a person, who is waited for
	None Merge = "none" // a person, who is not waited for
)

// attempts bounds how often a change is proposed anew, because the branch moved
// so that the pull request cannot be merged. What Stays is proposed until its time is over.
const attempts = 10

// Repo is the infra repository and its branch.
type Repo interface {
	Tip(context.Context) (gitops.Snapshot, error)
	At(ctx context.Context, commit string) (gitops.Snapshot, error)
	Propose(ctx context.Context, branch string, change gitops.Change) (gitops.Commit, error)
}

// Forge has the pull requests of the infra repository.
type Forge struct {
	OpenPulls func(ctx context.Context, base, prefix string) ([]PullRequest, error)
	Open      func(context.Context, NewPull) (PullRequest, error)
	Pull      func(ctx context.Context, number int) (PullRequest, error)
	ClosePull func(ctx context.Context, number int, comment string) error
	MergePull func(ctx context.Context, pull PullRequest, title, body string) (Merging, error) // this head, and no later one
	Dequeue   func(context.Context, PullRequest) error                                         // what was Queued

	DeleteBranch func(ctx context.Context, branch string) error // where it is there
}

// Reviews are the pull requests into one branch.
type Reviews struct {
	Repo    Repo
	Forge   Forge
	Branch  string                      // that they are merged into
	Merge   Merge                       // who merges them
	Timeout time.Duration               // how long one is waited for
	Body    func(message string) string // what they say, in Markdown, when they are opened, with the commit's message
	Quote   func(text string) string    // a text that may be anybody's, in a line of Markdown
	Poll    time.Duration               // how often one is looked at, at first; zero: every 3 s
}

// A Proposal is what is proposed, beside the change itself.
type Proposal struct {
	Target    string                              // that it is for, such as checkout-overlays-production
	Promotion string                              // or rollback whose commit it is, by its id
	Step      string                              // of that; restore and rollback are those that roll back
	Begins    bool                                // it is the first of the promotion
	Stays     bool                                // it is to be merged also when nobody waits for it any more
	Over      func(err error) bool                // whether an error of Edit means that somebody else's change has taken its place; nil: none does
	Never     func(err error) bool                // whether one means that it is bad; nil: none does
	Seen      func(pull PullRequest, what string) // told of what becomes of it; without a number before it is open
}

// A NotMergedError is a pull request that is not merged, so that the branch is
// as it was, or not as it was made.
type NotMergedError struct {
	Pull      PullRequest
	Reason    string
	RollsBack bool // it is another one, which rolls back and comes first
	WithMore  bool // it is merged, with what the run has not made
}

// Error names the pull request and the reason.
func (e *NotMergedError) Error() string {
	if e.WithMore {
		return fmt.Sprintf("pull request #%d (%s) %s", e.Pull.Number, e.Pull.URL, e.Reason)
	}
	return fmt.Sprintf("pull request #%d (%s) is not merged: %s", e.Pull.Number, e.Pull.URL, e.Reason)
}

// ErrNotWaited is a pull request that is open, and that nobody waits for.
var ErrNotWaited = errors.New("a pull request is open, and merge is none")

// ErrOutdated is a pull request that the branch has moved away from, and that is to be proposed anew.
var ErrOutdated = errors.New("the branch has moved")

// Publish makes the change one commit of a pull request, waits until that is
// merged, and returns the commit that shows it: what it was merged as, else the
// branch's newest. Its errors are those of the change's Edit, which is asked on
// every new tip until then, NotMergedError, ErrNotWaited, and as for
// gitops.Repo.Propose, ErrUnchanged with the tip's commit above all.
func (r Reviews) Publish(ctx context.Context, change gitops.Change, p Proposal) (gitops.Commit, error) {
	limited, stop := context.WithTimeout(ctx, r.Timeout)
	defer stop()
	tried := map[string]bool{}
	var before error // why it was proposed anew last
	for n := 1; ; n++ {
		commit, err := r.publishOnce(limited, change, p, tried)
		again := errors.Is(err, gitops.ErrTaken) || errors.Is(err, ErrOutdated) || n == 1 && errors.Is(err, remote.ErrRefused)
		if !again || n >= attempts && !p.Stays || n >= withoutPause && sleep.For(limited, min(time.Duration(n)*r.firstPoll(), longestPoll)) != nil {
			if n > withoutPause && before != nil && limited.Err() != nil {
				err = before
			}
			return commit, reasonOf(err)
		}
		before = err
	}
}

// withoutPause is how often a change is proposed anew at once: somebody may push to each of
// its branches.
const withoutPause = 4

// reasonOf is why a pull request was not merged, where it would only be proposed anew.
func reasonOf(err error) error {
	if not, is := errors.AsType[*NotMergedError](err); is && errors.Is(err, ErrOutdated) {
		return not
	}
	return err
}

// publishOnce proposes the change on a branch that was not tried yet, and waits for that.
func (r Reviews) publishOnce(ctx context.Context, change gitops.Change, p Proposal, tried map[string]bool) (gitops.Commit, error) {
	title, body, err := change.Message()
	if err != nil {
		return gitops.Commit{}, err
	}
	var open []PullRequest
	err = r.patiently(ctx, p, func() (err error) {
		if open, err = r.openFor(ctx, p); err == nil {
			err = p.heldBy(open)
		}
		return err
	})
	if err != nil {
		return gitops.Commit{}, err
	}
	branch, made, err := propose(ctx, r.Repo, change, p.branch(), open, tried)
	if err != nil {
		return made, err
	}
	var pull PullRequest
	err = r.patiently(ctx, p, func() (err error) {
		pull, err = r.Forge.Open(ctx, NewPull{Branch: branch, Base: r.Branch, Title: title, Body: r.Body(body)})
		return err
	})
	if err != nil {
		return mergedElsewhere(ctx, r.Repo, change, err)
	}
	p.Seen(pull, "open")
	var rest []PullRequest
	err = r.patiently(ctx, p, func() error { rest, err = r.supersede(ctx, pull, p); return err })
	if err != nil {
		return gitops.Commit{}, err
	}
	return await(ctx, waiting{Reviews: r, change: change, Proposal: p, pull: pull, own: made.Hash, title: title, body: body}, rest)
}

// await waits until a pull request is merged, where somebody waits for that, and then closes
// the rest of the others.
func await(ctx context.Context, w waiting, rest []PullRequest) (gitops.Commit, error) {
	if w.Merge == None {
		closeRest(ctx, w.Forge, w.pull, w.Proposal, rest)
		next := "run again when it is merged"
		if w.Stays {
			next = "merge it, which ends this" // run again, the promotion would begin anew
		}
		return gitops.Commit{}, fmt.Errorf("%w: #%d (%s): %s", ErrNotWaited, w.pull.Number, w.pull.URL, next)
	}
	commit, err := w.wait(ctx)
	switch {
	case err == nil:
		closeRest(ctx, w.Forge, w.pull, w.Proposal, rest)
	case errors.Is(err, ErrOutdated):
		err = fmt.Errorf("%w: %w", ErrOutdated, &NotMergedError{Pull: w.pull, Reason: w.reason})
	}
	return commit, err
}

// propose makes the change the commit of a branch: one of an open pull request of the same step,
// where that is the change, else of one that is new.
func propose(ctx context.Context, repo Repo, change gitops.Change, first string, open []PullRequest, tried map[string]bool) (branch string, made gitops.Commit, err error) {
	next := first
	if tried[first] {
		if next, err = another(first); err != nil {
			return "", gitops.Commit{}, err
		}
	}
	open = slices.DeleteFunc(slices.Clone(open), func(other PullRequest) bool { return !isAnother(first, other.Branch) || tried[other.Branch] })
	var names []string
	for _, other := range newestOf(open) {
		names = append(names, other.Branch)
	}
	for _, branch = range append(names, next) {
		tried[branch] = true
		if made, err = repo.Propose(ctx, branch, change); !errors.Is(err, gitops.ErrTaken) {
			break
		}
	}
	return branch, made, err
}

// mergedElsewhere is for a pull request that could not be opened, as when another run
// has proposed the same on the same branch, and that was merged just now.
func mergedElsewhere(ctx context.Context, repo Repo, change gitops.Change, refused error) (gitops.Commit, error) {
	tip, err := repo.Tip(ctx)
	if err != nil {
		return gitops.Commit{}, refused
	}
	if shown, err := shows(tip, change); !shown || err != nil {
		return gitops.Commit{}, refused
	}
	return tip.Commit, gitops.ErrUnchanged
}

// patiently asks the forge again while it is away: it has answered before, and
// what is proposed may be a rollback.
func (r Reviews) patiently(ctx context.Context, p Proposal, ask func() error) error {
	for poll := r.firstPoll(); ; poll = min(poll+poll/2, longestPoll) {
		err := ask()
		if !isAway(err) || ctx.Err() != nil {
			return err
		}
		p.Seen(PullRequest{}, err.Error())
		if sleep.For(ctx, poll) != nil {
			return err
		}
	}
}

// shows tells whether a snapshot shows the change: its Edit makes no difference.
func shows(at gitops.Snapshot, change gitops.Change) (bool, error) {
	files, err := change.Edit(at)
	if errors.Is(err, gitops.ErrUnchanged) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	for name, content := range files {
		has, err := fs.ReadFile(at.Tree, name)
		absent := errors.Is(err, fs.ErrNotExist)
		switch {
		case err != nil && !absent:
			return false, err
		case absent != (content == nil), !bytes.Equal(has, content):
			return false, nil
		}
	}
	return true, nil
}

// firstPoll is how often a pull request is looked at, at first.
func (r Reviews) firstPoll() time.Duration { return cmp.Or(r.Poll, 3*time.Second) }
