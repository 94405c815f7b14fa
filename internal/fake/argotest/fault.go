package argotest

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// faults are the failures that a test asks for.
type faults struct {
	mu    sync.Mutex
	code  codes.Code
	calls int
	until time.Time
}

// Fail makes the next n calls of the API fail with code.
func (s *Server) Fail(code codes.Code, n int) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.code, s.faults.calls = code, n
}

// Pause makes the API answer nothing for d of the wall clock.
func (s *Server) Pause(d time.Duration) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.until = time.Now().Add(d)
}

// check waits out a pause and returns the failure that is due.
func (f *faults) check(ctx context.Context) error {
	f.mu.Lock()
	pause := time.Until(f.until)
	code, fail := f.code, f.calls > 0
	if fail {
		f.calls--
	}
	f.mu.Unlock()
	if pause > 0 {
		select {
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		case <-time.After(pause):
		}
	}
	if fail {
		return status.Error(code, "injected by the test")
	}
	return nil
}
