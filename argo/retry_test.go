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
			err := retry{200 * time.Millisecond}.unary(t.Context(), "/Get", nil, nil, nil,
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
