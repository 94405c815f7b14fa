package sleep_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/internal/sleep"
)

func TestFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		over := errors.New("the time is over")
		ctx, stop := context.WithTimeoutCause(t.Context(), time.Hour, over)
		defer stop()
		began := time.Now()
		if err := sleep.For(ctx, time.Minute); err != nil || time.Since(began) != time.Minute {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if err := sleep.For(ctx, 2*time.Hour); !errors.Is(err, over) || time.Since(began) != time.Hour {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
