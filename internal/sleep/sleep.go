// Package sleep waits without outliving a context.
package sleep

import (
	"context"
	"time"
)

// For waits for d, or until the context ends, whose cause is then the error. Where
// both come together the context has ended.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return context.Cause(ctx) // nil: it goes on
}
