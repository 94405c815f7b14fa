package argo

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/grpc"
)

// A counter is an Argo CD whose objects stand still, and which counts what it is asked.
type counter struct {
	applicationpkg.ApplicationServiceClient
	observed Observed
	stream   time.Duration // how long a stream of events lasts; 0: it cannot be opened
	requests atomic.Int64
}

func (c *counter) Get(context.Context, *applicationpkg.ApplicationQuery, ...grpc.CallOption) (*v1alpha1.Application, error) {
	c.requests.Add(1)
	return c.observed.App.DeepCopy(), nil
}

func (c *counter) GetResource(_ context.Context, q *applicationpkg.ApplicationResourceRequest, _ ...grpc.CallOption) (*applicationpkg.ApplicationResourceResponse, error) {
	c.requests.Add(1)
	var object any = c.observed.Service
	if q.GetKind() == "Revision" {
		object = c.observed.Revision
	}
	data, err := json.Marshal(object)
	manifest := string(data)
	return &applicationpkg.ApplicationResourceResponse{Manifest: &manifest}, err
}

func (c *counter) Watch(ctx context.Context, _ *applicationpkg.ApplicationQuery, _ ...grpc.CallOption) (applicationpkg.ApplicationService_WatchClient, error) {
	if c.stream == 0 {
		return nil, errors.New("a proxy does not let streams through")
	}
	return &silence{ctx: ctx, first: c.observed.App, end: time.After(c.stream)}, nil
}

// silence is a stream that shows the Application as it is, and then nothing.
type silence struct {
	grpc.ClientStream
	ctx   context.Context
	first *v1alpha1.Application
	end   <-chan time.Time
}

func (s *silence) Recv() (*v1alpha1.ApplicationWatchEvent, error) {
	if app := s.first; app != nil {
		s.first = nil
		return &v1alpha1.ApplicationWatchEvent{Application: *app.DeepCopy()}, nil
	}
	select {
	case <-s.ctx.Done():
	case <-s.end:
	}
	return nil, io.EOF
}

// TestAwaitCost counts the requests of a wait in which nothing happens. Where an event of
// the Application would tell of the end there are few of them, elsewhere it polls.
func TestAwaitCost(t *testing.T) {
	for name, test := range map[string]struct {
		scene  string
		stream time.Duration
		least  int // requests a minute, after the first one
		most   int
	}{
		"a hook runs":                    {"sync-hook", time.Hour, 6, 8},
		"a revision becomes ready":       {"recorded-candidate-ingress", time.Hour, 6, 8},
		"the commit is not seen":         {"recorded-commit-not-seen", time.Hour, 6, 8},
		"without events, a hook runs":    {"sync-hook", 0, 30, 31},
		"without events, a revision":     {"recorded-candidate-ingress", 0, 60, 61},
		"a proxy ends quiet streams":     {"recorded-candidate-ingress", time.Minute, 6, 12},
		"the routes are not said yet":    {"routes-nothing", time.Hour, 60, 91},
		"the generation is not seen yet": {"stale-health", time.Hour, 60, 91},
		"only the revision is not ready": {"revision-becoming-ready", time.Hour, 60, 91},
		"beside a hook of others":        {"others-hook-not-live", time.Hour, 60, 91},
		"the traffic alone":              {"traffic-only-routes-unknown", time.Hour, 60, 61},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, observed := scene(t, test.scene)
				in.Carries = func(context.Context, string) (bool, error) {
					return observed.Relation == Carrying, map[bool]error{true: ErrBehind}[observed.Relation == Behind]
				}
				argo := &counter{observed: observed, stream: test.stream}
				const minutes = 10
				ctx, cancel := context.WithTimeout(t.Context(), (minutes+1)*time.Minute)
				defer cancel()
				var before atomic.Int64
				time.AfterFunc(time.Minute, func() { before.Store(argo.requests.Load()) })
				_, err := (&Client{apps: argo, timeout: time.Minute}).Await(ctx, in, nil)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				got := int(argo.requests.Load()-before.Load()) / minutes
				t.Logf("%d requests a minute", got)
				if got > test.most || got < test.least {
					t.Errorf("%d requests a minute: expected %d to %d", got, test.least, test.most)
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}

// TestAwaitNotices begins in a quiet wait. What the events tell is seen at once, and what
// they do not is seen nevertheless.
func TestAwaitNotices(t *testing.T) {
	const begin = 5 * time.Minute
	later := "999999"
	for name, test := range map[string]struct {
		told   func(n *events)
		live   time.Duration // after begin
		within time.Duration // after that
	}{
		"an event":                {func(n *events) { n.tell(&later) }, 0, wakePause},
		"no event":                {func(*events) {}, 0, quietPause},
		"an event, and live soon": {func(n *events) { n.tell(&later) }, 4 * time.Second, lastPause},
		"the stream ends":         {func(n *events) { n.tell(nil) }, 30 * time.Second, lastPause},
		"an event after the stream was distrusted": {func(n *events) { n.distrust(); n.tell(&later) }, 0, wakePause},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, before := scene(t, "recorded-candidate-ingress")
				_, live := scene(t, "recorded-candidate-live")
				n := &events{wake: make(chan struct{}, 1)}
				n.tell(&before.App.ResourceVersion)
				time.AfterFunc(begin, func() { test.told(n) })
				_, took, err := await(in, &play{scene: func(at time.Duration, _ *play) (Observed, error) {
					if at < begin+test.live {
						return before, nil
					}
					return live, nil
				}}, time.Hour, n)
				if late := took - begin - test.live; err != nil || late > test.within {
					t.Errorf("live %v late, %v: expected at most %v", late, err, test.within)
				}
			})
		})
	}
}

// TestAwaitLooksAtTheService wants a Service that is ready to be seen while Argo CD's
// controller is away and the Application stands still.
func TestAwaitLooksAtTheService(t *testing.T) {
	in, before := scene(t, "recorded-candidate-ingress")
	_, live := scene(t, "recorded-candidate-live")
	live.App = before.App
	const begin = 5 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		n := &events{wake: make(chan struct{}, 1)}
		n.tell(&before.App.ResourceVersion)
		_, took, err := await(in, &play{scene: func(at time.Duration, _ *play) (Observed, error) {
			if at < begin {
				return before, nil
			}
			return live, nil
		}}, time.Hour, n)
		if err != nil || took > begin+quietLimit {
			t.Errorf("live after %v, %v: expected %v at most", took, err, begin+quietLimit)
		}
	})
}

// TestAwaitDoubtsASilentStream changes the Application again and again without an event:
// from the first such change on it polls.
func TestAwaitDoubtsASilentStream(t *testing.T) {
	in, before := scene(t, "recorded-candidate-ingress")
	synctest.Test(t, func(t *testing.T) {
		n := &events{wake: make(chan struct{}, 1)}
		n.tell(&before.App.ResourceVersion)
		p := &play{scene: func(at time.Duration, _ *play) (Observed, error) {
			now := before
			now.App = before.App.DeepCopy()
			if at >= time.Minute {
				now.App.ResourceVersion = "999999"
			}
			return now, nil
		}}
		_, _, err := await(in, p, 11*time.Minute, n)
		if p.observed < 300 {
			t.Errorf("observed %d times in 11 minutes, %v: expected to poll again", p.observed, err)
		}
	})
}

func TestNewsSince(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		told, read string
		want       bool
	}{
		{"12", "9", true},
		{"9", "9", false},
		{"9", "12", false},
		{"x", "9", true},
		{"9", "", true},
	} {
		n := new(events)
		n.tell(&test.told)
		if got := n.since(test.read); got != test.want || !n.open() {
			t.Errorf("an event of version %q after %q was read: got %v", test.told, test.read, got)
		}
		if n.tell(nil); n.open() || !n.since(test.read) {
			t.Error("the end of the stream wakes nobody")
		}
	}
}
