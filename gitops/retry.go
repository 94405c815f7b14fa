package gitops

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
)

// transientAttempts bounds how often a failed exchange is tried.
const transientAttempts = 4

// retry runs an exchange that only reads again after errors that may pass.
// What it was doing is for the error.
func retry[T any](ctx context.Context, r *remote, doing string, talk func(context.Context) (T, error)) (T, error) {
	for attempt := 1; ; attempt++ {
		value, err := exchange(ctx, r, talk)
		if err == nil || !transient(ctx, err) || attempt == transientAttempts || pause(ctx, attempt) != nil {
			return value, r.explain(doing, err, nil)
		}
	}
}

// transient tells errors that a repetition may heal from those that it cannot.
func transient(ctx context.Context, err error) bool {
	if ctx.Err() != nil || kindOf(err) != nil || errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return false
	}
	// The server does not give out the object; asking again is idle.
	return !strings.Contains(err.Error(), "not our ref")
}

// pause waits before the next attempt: twice as long each time, from 50 ms up
// to 3 s, and jittered so that rivals do not meet again.
func pause(ctx context.Context, attempt int) error {
	longest := min(50*time.Millisecond<<min(attempt, 10), 3*time.Second)
	timer := time.NewTimer(longest/4 + rand.N(longest*3/4))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
