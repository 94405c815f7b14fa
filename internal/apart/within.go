package apart

import (
	"context"
	"time"
)

// Within returns what a function does, or ErrLate at the end of ctx: the function may still be at work then, on what takes
// longer than anybody thought. It panics where the function does.
func Within[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	type result struct {
		value    T
		err      error
		panicked any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.panicked = recover()
			done <- r
		}()
		r.value, r.err = do(ctx)
	}()
	select {
	case r := <-done:
		if r.panicked != nil {
			panic(r.panicked)
		}
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, late(ctx)
	}
}

// Surely is Within for what ends by itself soon after ctx, unless something is wrong with it: it has so much time for that.
func Surely[T any](ctx context.Context, soon time.Duration, do func(context.Context) (T, error)) (T, error) {
	over, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(soon, func() { end(context.Cause(ctx)) })
	})()
	return Within(over, func(context.Context) (T, error) { return do(ctx) })
}
