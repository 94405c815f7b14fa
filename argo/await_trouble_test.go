package argo

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestAwaitDenied has an Argo CD that has shown the Application and then denies
// it: it does so too when it cannot read it for a moment.
func TestAwaitDenied(t *testing.T) {
	in, waiting := scene(t, "recorded-candidate-ingress")
	_, live := scene(t, "recorded-candidate-live")
	denied := explain(status.Error(codes.PermissionDenied, "permission denied"))
	for name, test := range map[string]struct {
		from, until time.Duration
		want        string // the error; empty: live
	}{
		"for a moment":        {time.Second, 20 * time.Second, ""},
		"for long":            {time.Second, time.Hour, "not allowed by Argo CD: no such application, or the token may not do this: permission denied"},
		"from the first look": {0, 20 * time.Second, "not allowed by Argo CD: no such application, or the token may not do this: permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &play{scene: func(at time.Duration, _ *play) (Observed, error) {
					switch {
					case at >= test.from && at < test.until:
						return Observed{}, denied
					case at < test.from:
						return waiting, nil
					}
					return live, nil
				}}
				_, took, err := await(in, p, time.Hour, nil)
				if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
					t.Errorf("got %v after %v, want %q", err, took, test.want)
				}
				if limit := Grace + 5*time.Second; took > limit {
					t.Errorf("took %v, want %v at most", took, limit)
				}
			})
		})
	}
}

func TestSyncOfWhatIsRolledBack(t *testing.T) {
	in, blocked := scene(t, "recorded-waits-behind-refused")
	syncing := syncRevision(in, blocked.App)
	for revision, want := range map[string]bool{syncing: true, "another": false} {
		in.RollsBack = func(_ context.Context, asked string) (bool, error) { return asked == revision, nil }
		if got := syncsRolledBack(t.Context(), in, blocked); got != want {
			t.Errorf("what is rolled back is %s, the sync of %s: %t", revision, syncing, got)
		}
	}
	in.RollsBack, in.Commit = func(context.Context, string) (bool, error) { return true, nil }, syncing
	if syncsRolledBack(t.Context(), in, blocked) {
		t.Error("the sync of the intent's own commit is rolled back")
	}
	in.RollsBack, in.Commit = func(context.Context, string) (bool, error) { return true, ErrNotFound }, "another"
	if syncsRolledBack(t.Context(), in, blocked) {
		t.Error("what nobody can tell is rolled back")
	}
	in.RollsBack = nil
	if syncsRolledBack(t.Context(), in, blocked) {
		t.Error("an intent that rolls nothing back does so")
	}
}
