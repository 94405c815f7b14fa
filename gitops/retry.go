package gitops

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// transientAttempts bounds how often a failed exchange is tried where patience
// is out of place: with a server that answers, but not well, and with one that
// has never answered, as then its address may be wrong.
const transientAttempts = 4

// retry runs an exchange that only reads again after errors that may pass.
// What it was doing is for the error.
func retry[T any](ctx context.Context, r *remote, doing string, talk func(context.Context) (T, error)) (T, error) {
	for t := r.tries(); ; {
		value, err := exchange(ctx, r, talk)
		if err == nil {
			r.answered.Store(true)
		}
		if err == nil || !transient(ctx, err) || !t.again(ctx, err) {
			return value, r.explain(doing, err, nil)
		}
	}
}

// tries counts the tries of one exchange.
type tries struct {
	count int
	until time.Time // a server that is away is waited for; zero: not
}

func (r *remote) tries() *tries {
	t := &tries{}
	if r.answered.Load() {
		t.until = time.Now().Add(r.patience)
	}
	return t
}

// again waits for the next try after an error, where there should be one.
func (t *tries) again(ctx context.Context, err error) bool {
	t.count++
	enough := t.count >= transientAttempts
	if isAway(err) {
		enough = enough && time.Now().After(t.until)
	}
	return !enough && pause(ctx, t.count, longestRetry) == nil
}

// isAway tells the errors of a server that is down, restarted or not reached
// for a while from those of one that answers.
func isAway(err error) bool {
	if _, marked := errors.AsType[away](err); marked {
		return true
	}
	if errors.Is(err, errRedirected) {
		return false
	}
	if unexpected, ok := errors.AsType[*plumbing.UnexpectedError](err); ok {
		err = unexpected.Err // it has no Unwrap
	}
	if answer, ok := errors.AsType[*githttp.Err](err); ok {
		return slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, answer.StatusCode())
	}
	_, unanswered := errors.AsType[*url.Error](err)
	_, broken := errors.AsType[*net.OpError](err)
	return unanswered || broken
}

// away marks such an error after it was put into our words.
type away struct{ error }

// transient tells errors that a repetition may heal from those that it cannot.
func transient(ctx context.Context, err error) bool {
	if _, marked := errors.AsType[*locked](err); marked && ctx.Err() == nil {
		return true
	}
	if ctx.Err() != nil || kindOf(err) != nil || errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return false
	}
	// What the server does not give out, or does not filter, it will not the
	// next time.
	return !notGivenOut(err) && !strings.Contains(err.Error(), "filter '")
}

// locked is a no to who was let in before. It is asked for again: servers, and
// what stands in front of them, have their moments.
type locked struct{ error }

func (l *locked) Unwrap() error { return l.error }

// reading is retry for what every reader of the repository may do.
func reading[T any](ctx context.Context, r *remote, talk func(context.Context) (T, error)) (T, error) {
	return retry(ctx, r, "reading", func(ctx context.Context) (T, error) {
		value, err := talk(ctx)
		if err != nil && kindOf(err) != nil && ctx.Err() == nil && r.answered.Load() {
			err = &locked{err}
		}
		return value, err
	})
}

// The longest pauses between attempts: with a server in trouble, and in a race
// with others, where a place on the branch is free again and again. There, 3 s
// left the machines idle half of the time and some of 32 rivals behind for 8 s.
const (
	longestRetry = 3 * time.Second
	longestRace  = 800 * time.Millisecond
)

// pause waits before the next attempt: twice as long each time, from 50 ms up
// to the longest, and jittered so that rivals do not meet again.
func pause(ctx context.Context, attempt int, longest time.Duration) error {
	longest = min(50*time.Millisecond<<min(attempt, 10), longest)
	timer := time.NewTimer(longest/4 + rand.N(longest*3/4))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
