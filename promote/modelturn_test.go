package promote

import (
	"context"
	"time"

	"github.com/acme/knative-promote/internal/sleep"
)

// A turn is held by the only goroutine that is inside the model: a run looks at revisions
// beside what it waits for. It is a channel, since virtual time would stand still for one
// that waits for a mutex.
type turn chan struct{}

// insideKey is of contexts whose call holds the turn: what an intent is asked for calls
// the model from inside it.
type insideKey struct{}

// enter waits for the turn, for a call that is not from inside the model, until leave.
func (t turn) enter(ctx context.Context) (inside context.Context, leave func()) {
	if ctx.Value(insideKey{}) != nil {
		return ctx, func() {}
	}
	t <- struct{}{}
	return context.WithValue(ctx, insideKey{}, true), func() { <-t }
}

// wait lets others have the turn while time passes.
func (t turn) wait(ctx context.Context, d time.Duration) (err error) {
	t.outside(func() { err = sleep.For(ctx, d) })
	return err
}

// outside does what is not of the model, without the turn.
func (t turn) outside(do func()) {
	<-t
	defer func() { t <- struct{}{} }()
	do()
}
