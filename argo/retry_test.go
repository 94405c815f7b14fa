package argo

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestLastTryRunsOutOfTime wants the reason that a try was given before there was no time left.
func TestLastTryRunsOutOfTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first error
		want  codes.Code
	}{
		"after an answer": {status.Error(codes.Internal, "cut"), codes.Internal},
		"after silence":   {status.Error(codes.DeadlineExceeded, "no answer"), codes.DeadlineExceeded},
		"after success":   {nil, codes.OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tries := 0
			err := (&retry{timeout: 200 * time.Millisecond}).unary(t.Context(), "/Get", nil, nil, nil,
				func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
					if tries++; tries == 1 {
						return test.first
					}
					<-ctx.Done()
					return status.FromContextError(ctx.Err()).Err()
				})
			if got := status.Code(err); got != test.want {
				t.Errorf("got %v after %d tries, want %v", err, tries, test.want)
			}
		})
	}
}

// TestTokenRefusedForAMoment: a token that was accepted before is tried again, but not for long.
func TestTokenRefusedForAMoment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before   bool
		refusals int
		want     codes.Code
		tries    int
	}{
		"for a moment": {true, 2, codes.OK, 3},
		"for good":     {true, 99, codes.Unauthenticated, 3},
		"always":       {false, 99, codes.Unauthenticated, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, tries := &retry{timeout: time.Minute}, 0
			if test.before {
				if err := r.unary(t.Context(), "/Get", nil, nil, nil, good); err != nil {
					t.Fatal(err)
				}
			}
			err := r.unary(t.Context(), "/Get", nil, nil, nil,
				func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
					if tries++; tries <= test.refusals {
						return status.Error(codes.Unauthenticated, "no session")
					}
					return nil
				})
			if status.Code(err) != test.want || tries != test.tries {
				t.Errorf("got %v after %d tries, want %v after %d", err, tries, test.want, test.tries)
			}
		})
	}
}

func good(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
