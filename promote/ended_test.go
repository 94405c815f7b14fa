package promote

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
)

// TestEnded has the ends of commands that only look.
func TestEnded(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	over, stop := context.WithTimeoutCause(t.Context(), -time.Second, gate.ErrTimeout)
	defer stop()
	for _, test := range []struct {
		name    string
		ctx     context.Context
		err     error
		want    event.Status
		timeout bool
	}{
		{"well", t.Context(), nil, event.Unchanged, false},
		{"well, as it is cancelled", cancelled, nil, event.Unchanged, false},
		{"badly", t.Context(), errors.New("no"), event.Failed, false},
		{"cancelled", cancelled, context.Canceled, event.Cancelled, false},
		{"over", over, errors.New("no answer"), event.Failed, true},
	} {
		status, err := Ended(test.ctx, test.err)
		if status != test.want || errors.Is(err, gate.ErrTimeout) != test.timeout || (err == nil) != (test.err == nil) {
			t.Errorf("%s: %s, %v; want %s, a timeout: %t", test.name, status, err, test.want, test.timeout)
		}
	}
}
