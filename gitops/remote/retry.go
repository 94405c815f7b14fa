package remote

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/acme/knative-promote/internal/sleep"
)

// transientAttempts bounds how often a failed exchange is tried where patience
// is out of place: with a server that has never answered, as then its address may be wrong.
const transientAttempts = 4

// retry runs an exchange that only reads again after errors that may pass.
// What it was doing is for the error.
func retry[T any](ctx context.Context, r *Remote, command, doing string, talk func(context.Context) (T, error)) (T, error) {
	for t := r.Tries(); ; {
		value, err := exchange(ctx, r, command, talk)
		if err == nil {
			r.answered.Store(true)
		}
		if err == nil || !transient(ctx, err) || !t.Again(ctx, err) {
			return value, r.explain(doing, err, nil)
		}
	}
}

// Tries counts the tries of one exchange.
type Tries struct {
	count int
	end   time.Time // of our patience
	soon  time.Time // until which a server that has answered before may fail
	known bool      // the server has answered before, so it is waited for
}

// Tries begins to count the tries of an exchange.
func (r *Remote) Tries() *Tries {
	now := time.Now()
	return &Tries{end: now.Add(r.patience), soon: now.Add(r.patience / 6), known: r.answered.Load()}
}

// Again waits for the next try after an error, where there should be one: for as
// long as the server says, if it does and that is within our patience.
func (t *Tries) Again(ctx context.Context, err error) bool {
	t.count++
	if after := retryAfter(err); after > 0 && time.Now().Add(after).Before(t.end) {
		return sleep.For(ctx, after) == nil
	}
	enough := t.count >= transientAttempts
	switch {
	case t.known && isUnreachable(err):
		enough = enough && time.Now().After(t.end)
	case t.known:
		enough = enough && time.Now().After(t.soon)
	}
	return !enough && Pause(ctx, t.count, longestRetry) == nil
}

// retryAfter is how long a server that is too busy asks to be left alone; zero:
// it does not say.
func retryAfter(err error) time.Duration {
	if marked, ok := errors.AsType[unreachable](err); ok {
		return marked.after
	}
	answer, ok := answerOf(err)
	if !ok || !busy(answer.StatusCode()) {
		return 0
	}
	says := answer.Response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(says, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(says); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

func busy(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// answerOf finds the HTTP answer in an error of go-git.
func answerOf(err error) (*githttp.Err, bool) {
	if unexpected, ok := errors.AsType[*plumbing.UnexpectedError](err); ok {
		err = unexpected.Err // it has no Unwrap
	}
	return errors.AsType[*githttp.Err](err)
}

// isUnreachable tells the errors of a server that is down, restarted or not reached
// for a while from those of one that answers.
func isUnreachable(err error) bool {
	if _, marked := errors.AsType[unreachable](err); marked {
		return true
	}
	if errors.Is(err, errRedirected) {
		return false
	}
	if answer, ok := answerOf(err); ok {
		status := answer.StatusCode()
		return busy(status) || status == http.StatusBadGateway || status == http.StatusGatewayTimeout
	}
	if unexpected, ok := errors.AsType[*plumbing.UnexpectedError](err); ok {
		err = unexpected.Err
	}
	_, unanswered := errors.AsType[*url.Error](err)
	_, broken := errors.AsType[*net.OpError](err)
	return unanswered || broken
}

// unreachable marks such an error after it was put into our words.
type unreachable struct {
	error
	after time.Duration // that the server asks to be left alone for; zero: it does not say
}

// Is tells that it is ErrUnreachable.
func (unreachable) Is(target error) bool { return target == ErrUnreachable }

// transient tells errors that another try may not meet from those that it would.
func transient(ctx context.Context, err error) bool {
	if _, marked := errors.AsType[*doubtfulRefusal](err); marked && ctx.Err() == nil {
		return true
	}
	if ctx.Err() != nil || kindOf(err) != nil || errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return false
	}
	// What the server does not give out, or does not filter, it will not the
	// next time.
	return !NotGivenOut(err) && !strings.Contains(err.Error(), "filter '")
}

// doubtfulRefusal is a no to credentials that were accepted before. It is asked
// for again: servers, and proxies in front of them, refuse for a moment at times.
type doubtfulRefusal struct{ error }

func (l *doubtfulRefusal) Unwrap() error { return l.error }

// NotGivenOut recognizes what servers say to the name of an object that they do
// not have, or give out by the name of a branch only.
func NotGivenOut(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "not our ref") || // Git
		strings.Contains(text, "want ") && strings.Contains(text, " not valid") // JGit
}

// reading is retry for what every reader of the repository may do.
func reading[T any](ctx context.Context, r *Remote, talk func(context.Context) (T, error)) (T, error) {
	return retry(ctx, r, transport.UploadPackServiceName, "reading", func(ctx context.Context) (T, error) {
		value, err := talk(ctx)
		if err != nil && kindOf(err) != nil && ctx.Err() == nil && r.answered.Load() {
			err = &doubtfulRefusal{err}
		}
		return value, err
	})
}

// longestRetry is the longest pause with a server in trouble.
const longestRetry = 3 * time.Second

// Pause waits before the next attempt: twice as long each time, from 50 ms up
// to the longest, and jittered so that rivals do not meet again.
func Pause(ctx context.Context, attempt int, longest time.Duration) error {
	longest = min(50*time.Millisecond<<min(attempt, 10), longest)
	return sleep.For(ctx, longest/4+rand.N(longest*3/4))
}
