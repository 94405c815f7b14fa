package review

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/sleep"
)

const (
	longestPoll = 30 * time.Second
	leaveTime   = 3 * time.Second // for a last word to the forge after the context has ended
	unanswered  = 5               // looks in a row that the forge may leave unanswered
	lagging     = 10              // looks until a branch must show what was merged into it
)

// waiting is a pull request on its way.
type waiting struct {
	Reviews
	Proposal
	change      gitops.Change
	pull        PullRequest
	own         string // the head that the run has written
	title, body string // of the commit, where the forge makes it

	queued string  // the head that is in the forge's merge queue, or was
	answer Merging // what it said last when it was asked
	done   bool    // it was merged, by what the forge said
	reason string  // why it is not merged yet
	failed int     // looks in a row that got no answer
	unsaid int     // requests to merge that got none
	merged int     // looks since it was merged
	fitted string  // the tip and the head of which it was found out last that they fit
	shows  int     // looks at which it was open, and the branch showed it
}

// wait looks at the pull request until it is merged, or will not be.
func (w *waiting) wait(ctx context.Context) (gitops.Commit, error) {
	for poll := w.firstPoll(); ; poll = min(poll+poll/2, longestPoll) {
		commit, err := w.poll(ctx)
		if err == nil {
			return commit, nil
		}
		if ctx.Err() != nil || errors.Is(err, errWaiting) && sleep.For(ctx, poll) != nil {
			err = notMerged(ctx, w.pull, w.reason)
		}
		if !errors.Is(err, errWaiting) {
			return w.leave(ctx, err)
		}
	}
}

// errWaiting is a pull request that may still be merged.
var errWaiting = errors.New("not merged yet")

// notMerged is the error of a wait that is over, for a pull request that was not merged for a
// reason.
func notMerged(ctx context.Context, pull PullRequest, reason string) error {
	over := "its time is over"
	if reason != "" {
		over += ": " + reason
	}
	err := &NotMergedError{Pull: pull, Reason: over}
	if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) { // the run's own has ended
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// poll looks at the pull request once: errWaiting, if it may still be merged.
func (w *waiting) poll(ctx context.Context) (gitops.Commit, error) {
	seen, err := w.Forge.Pull(ctx, w.pull.Number)
	if err != nil {
		return gitops.Commit{}, w.unanswered(ctx, err)
	}
	w.failed = w.unsaid
	w.pull = seen
	switch {
	case seen.State == Merged:
		return w.settle(ctx)
	case seen.State == Closed:
		return w.closed(ctx)
	case seen.Head != w.own:
		if err := w.follow(ctx); err != nil {
			return gitops.Commit{}, err
		}
	}
	return w.decide(ctx)
}

// unanswered passes over what a forge that is away does not answer, and over some
// other errors.
func (w *waiting) unanswered(ctx context.Context, err error) error {
	if !isAway(err) {
		w.failed++
	}
	if w.failed >= unanswered || ctx.Err() != nil {
		return err
	}
	w.say(err.Error())
	return errWaiting
}

// decide goes on with an open pull request. The change is asked first whether it
// may still be made, on the branch as it is now.
func (w *waiting) decide(ctx context.Context) (gitops.Commit, error) {
	tip, there, err := tipShows(ctx, w)
	switch {
	case err != nil:
		return gitops.Commit{}, err
	case there:
		return w.there(ctx, tip.Commit)
	case w.pull.Base != "" && w.pull.Base != w.Branch:
		return gitops.Commit{}, &NotMergedError{Pull: w.pull, Reason: fmt.Sprintf("%s; expected %s", otherBase(w.pull.Base), w.Branch)}
	case w.pull.Block == Conflict || w.pull.Block == Behind:
		w.say(fmt.Sprintf("it cannot be merged (%s), as %s has moved to %.10s: the same change is proposed on that", w.pull.Block, w.Branch, tip.Commit.Hash))
		return gitops.Commit{}, ErrOutdated
	}
	switch fits, err := w.fits(ctx, tip); {
	case err != nil:
		return gitops.Commit{}, err
	case !fits:
		w.say(fmt.Sprintf("%s has moved to %.10s, where a merge may make something else of it: it is proposed on that", w.Branch, tip.Commit.Hash))
		return gitops.Commit{}, ErrOutdated
	case w.Merge == Wait:
		w.say("waiting for somebody to merge it")
		return gitops.Commit{}, errWaiting
	}
	err = w.askToMerge(ctx)
	if w.answer == Done && !w.done {
		w.done = true
		return w.poll(ctx) // at once
	}
	return gitops.Commit{}, err
}

// there goes on with an open pull request whose change the branch shows. It may have
// been merged since the look, so one more look is taken; then somebody else has made
// the same change, and whether the pull request can be closed decides nothing.
func (w *waiting) there(ctx context.Context, tip gitops.Commit) (gitops.Commit, error) {
	if w.shows++; w.shows == 1 {
		return gitops.Commit{}, errWaiting
	}
	if err := w.Forge.ClosePull(ctx, w.pull.Number, fmt.Sprintf("The branch shows this already, at %s.", tip.Hash)); err != nil {
		w.say(fmt.Sprintf("the branch shows it already, and it is not closed: %v", err))
	}
	return tip, nil
}

// askToMerge asks the forge to merge this head now, at each look: what the forge is told to
// merge later it merges with whatever somebody has pushed meanwhile. A head is put into a merge
// queue once, as who takes it out decides that.
func (w *waiting) askToMerge(ctx context.Context) error {
	if w.queued == w.pull.Head || w.pull.Head != w.own {
		return errWaiting
	}
	answer, err := w.Forge.MergePull(ctx, w.pull, w.title, w.body)
	if errors.Is(err, ErrNotMergeable) {
		w.say(err.Error())
		return errWaiting
	}
	if errors.Is(err, ErrOutdated) {
		w.say(fmt.Sprintf("%v: the same change is proposed anew", err))
		return ErrOutdated
	}
	if err != nil {
		if !isAway(err) {
			w.unsaid++
		}
		return w.unanswered(ctx, err)
	}
	if answer == Queued {
		w.queued = w.pull.Head
	}
	w.answer = answer
	w.say(string(answer))
	return errWaiting
}

// closed is how it ends with a pull request that somebody has closed. Where a later one for the target is open, that
// may have taken its place, which the branch shows once it is merged.
func (w *waiting) closed(ctx context.Context) (gitops.Commit, error) {
	if tip, there, err := tipShows(ctx, w); err != nil || there {
		return tip.Commit, err
	}
	open, err := w.openFor(ctx, w.Proposal)
	if err != nil {
		return gitops.Commit{}, w.unanswered(ctx, err)
	}
	if open = newestFirst(open); len(open) > 0 && open[0].Number > w.pull.Number {
		w.say(fmt.Sprintf("it is closed, and #%d is open for the target", open[0].Number))
		return gitops.Commit{}, errWaiting
	}
	return gitops.Commit{}, &NotMergedError{Pull: w.pull, Reason: "somebody has closed it"}
}

// leave makes sure that the forge does not merge a change that nobody waits for
// any more, also after the context has ended. One that was merged in the last
// moment is merged. What stays open is not to be merged as it is where it is proposed
// anew, or is over. What nobody may merge any more is closed, unless somebody else's is proposed there by now.
func (w *waiting) leave(ctx context.Context, err error) (gitops.Commit, error) {
	over := w.Over != nil && w.Over(err) || w.Never != nil && w.Never(err)
	if w.pull.State != Open || w.Stays && !over && !errors.Is(err, ErrOutdated) {
		return gitops.Commit{}, err
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer stop()
	if w.answer == Queued {
		if late := w.Forge.Dequeue(last, w.pull); late != nil {
			w.say(fmt.Sprintf("the merge queue may still merge it, close it by hand: %v", late))
		}
	}
	if over && w.pull.Head == w.own {
		closeOver(last, w, err)
	}
	if seen, late := w.Forge.Pull(last, w.pull.Number); late == nil && seen.State == Merged {
		w.pull = seen
		if commit, late := w.settle(last); late == nil || isWithMore(late) {
			return commit, late
		}
	}
	return gitops.Commit{}, err
}

// closeOver closes a pull request that nobody may merge any more.
func closeOver(ctx context.Context, w *waiting, cause error) {
	comment := "It is not to be merged any more: "
	if w.Stays {
		comment = "Nothing is left to be rolled back: "
	}
	if err := w.Forge.ClosePull(ctx, w.pull.Number, comment+w.Quote(cause.Error())); err != nil {
		w.say(fmt.Sprintf("it is not closed, close it by hand: %v", err))
	}
}

// say tells what becomes of the pull request, each once in a row.
func (w *waiting) say(what string) {
	if what != w.reason {
		w.reason = what
		w.Seen(w.pull, what)
	}
}
