package argo

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// A play is a control plane whose state is a function of the time since the wait began.
type play struct {
	begin    time.Time
	scene    func(at time.Duration, p *play) (Observed, error)
	refuse   map[command]error
	commands []command
	observed int
	refreshs []time.Duration
	kinds    []v1alpha1.RefreshType
}

func (p *play) observe(_ context.Context, in Intent, refresh v1alpha1.RefreshType, known *Observed) (Observed, error) {
	at := time.Since(p.begin)
	p.observed++
	if refresh != noRefresh {
		p.refreshs, p.kinds = append(p.refreshs, at), append(p.kinds, refresh)
	}
	ob, err := p.scene(at, p)
	if known != nil && err == nil && standsStill(in, known.App, ob.App) {
		return *known, nil
	}
	return ob, err
}

func (p *play) send(_ context.Context, _ *v1alpha1.Application, cmd command, _ string) error {
	p.commands = append(p.commands, cmd)
	return p.refuse[cmd]
}

// scene is a situation of testdata/judge.
func scene(t *testing.T, name string) (Intent, Observed) {
	t.Helper()
	in, ob, _ := loadSituation(t, "testdata/judge/"+name+".txtar").decode(t)
	return in, ob
}

// await waits in p for at most the given time and returns how long it took.
func await(in Intent, p *play, limit time.Duration, n *events) (last Verdict, took time.Duration, err error) {
	p.begin = time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if n == nil {
		n = new(events) // which never tells anything
	}
	w := &waiter{argo: p, in: in, events: n, report: func(v Verdict) { last = v }}
	_, err = w.run(ctx)
	return last, time.Since(p.begin), err
}

func TestAwaitPollsUntilLive(t *testing.T) {
	in, before := scene(t, "recorded-candidate-ingress")
	_, live := scene(t, "recorded-candidate-live")
	synctest.Test(t, func(t *testing.T) {
		p := &play{scene: func(at time.Duration, _ *play) (Observed, error) {
			if at < 10*time.Minute {
				return before, nil
			}
			return live, nil
		}}
		last, took, err := await(in, p, time.Hour, nil)
		if err != nil || last.State != Live || took > 10*time.Minute+lastPause {
			t.Errorf("got %v, %v after %v", last, err, took)
		}
		if p.observed > 320 || len(p.refreshs) != 1 {
			t.Errorf("observed %d times and refreshed at %v: expected one refresh and about 300 observations in ten minutes", p.observed, p.refreshs)
		}
	})
}

func TestAwaitIsWokenByEvents(t *testing.T) {
	in, before := scene(t, "recorded-candidate-ingress")
	_, live := scene(t, "recorded-candidate-live")
	synctest.Test(t, func(t *testing.T) {
		n := &events{wake: make(chan struct{}, 1)}
		n.tell(&before.App.ResourceVersion)
		const event = 10*time.Minute + 300*time.Millisecond
		live.App.ResourceVersion = "999999"
		time.AfterFunc(event, func() { n.tell(&live.App.ResourceVersion) })
		p := &play{scene: func(at time.Duration, _ *play) (Observed, error) {
			if at < event {
				return before, nil
			}
			return live, nil
		}}
		if _, took, err := await(in, p, time.Hour, n); err != nil || took > event+wakePause {
			t.Errorf("live %v after the event, %v", took-event, err)
		}
	})
}

func TestAwaitRefreshesUntilTheCommitIsSeen(t *testing.T) {
	in, behind := scene(t, "recorded-commit-not-seen")
	synctest.Test(t, func(t *testing.T) {
		p := &play{scene: func(time.Duration, *play) (Observed, error) { return behind, nil }}
		_, took, err := await(in, p, 20*time.Second, nil)
		if !errors.Is(err, context.DeadlineExceeded) || took != 20*time.Second {
			t.Errorf("got %v after %v", err, took)
		}
		wantError(t, err, "waiting for 11111111 to be live in application web-b-production: context deadline exceeded: Argo CD is at f72f57d0 and has not seen 11111111 yet")
		if n := len(p.refreshs); n < 5 || n > 11 {
			t.Errorf("refreshed %d times in 20 s", n)
		}
	})
}

func TestAwaitRefreshesWhileGitIsAway(t *testing.T) {
	in, live := scene(t, "recorded-candidate-live")
	_, behind := scene(t, "recorded-commit-not-seen")
	behind.Relation = Unknown
	synctest.Test(t, func(t *testing.T) {
		p := &play{scene: func(_ time.Duration, p *play) (Observed, error) {
			if len(p.refreshs) < 3 {
				return behind, errors.New("looking for 08c13fd0 in f72f57d0: no answer from Git")
			}
			return live, nil
		}}
		_, took, err := await(in, p, 20*time.Second, nil)
		if took > 3*refreshPause+lastPause || len(p.refreshs) != 3 {
			t.Errorf("got %v after %v and refreshes at %v: expected a refresh every %v", err, took, p.refreshs, refreshPause)
		}
	})
}

func TestAwaitGivesTroubleItsGrace(t *testing.T) {
	in, trouble := scene(t, "revision-missing-false")
	_, live := scene(t, "recorded-candidate-live")
	for name, test := range map[string]struct {
		heals  time.Duration
		failed bool
	}{
		"a moment": {5 * time.Second, false},
		"too long": {Grace + 5*time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &play{scene: func(at time.Duration, _ *play) (Observed, error) {
					if at < test.heals {
						return trouble, nil
					}
					return live, nil
				}}
				_, took, err := await(in, p, time.Hour, nil)
				var failure *FailedError
				if errors.As(err, &failure) != test.failed || took > Grace+lastPause {
					t.Errorf("got %v after %v", err, took)
				}
			})
		})
	}
}

func TestAwaitCountsTroubleWithoutABreak(t *testing.T) {
	in, trouble := scene(t, "revision-missing-false")
	_, fine := scene(t, "recorded-candidate-ingress")
	synctest.Test(t, func(t *testing.T) {
		p := &play{scene: func(at time.Duration, _ *play) (Observed, error) {
			if at%(20*time.Second) < 15*time.Second {
				return trouble, nil
			}
			return fine, nil
		}}
		if _, _, err := await(in, p, 5*time.Minute, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v: expected no failure by trouble that goes away again", err)
		}
	})
}

func TestAwaitEnds(t *testing.T) {
	in, live := scene(t, "recorded-candidate-live")
	_, displaced := scene(t, "superseded")
	_, refused := scene(t, "recorded-refused")
	recreated := live
	recreated.App = live.App.DeepCopy()
	recreated.App.UID = "another"
	inRefused, _ := scene(t, "recorded-refused")
	_, waiting := scene(t, "recorded-candidate-ingress")
	tests := map[string]struct {
		in     Intent
		first  Observed
		second Observed
		err    error
		want   string
	}{
		"token expires":  {in, waiting, Observed{}, ErrAuth, "not allowed"},
		"deleted":        {in, waiting, Observed{}, ErrNotFound, "not found"},
		"superseded":     {in, displaced, displaced, nil, "superseded: 2b2b2b2b took the place of 08c13fd0"},
		"refused":        {inRefused, refused, refused, nil, "the Service was refused: admission webhook"},
		"recreated":      {in, waiting, recreated, nil, "was deleted and created anew"},
		"one is a blip":  {in, displaced, live, nil, ""},
		"errors can end": {in, waiting, Observed{}, errors.New("reading application: Unavailable"), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &play{scene: func(at time.Duration, _ *play) (Observed, error) {
					switch {
					case at < time.Second:
						return test.first, nil
					case at < time.Minute:
						return test.second, test.err
					}
					return live, nil
				}}
				_, took, err := await(test.in, p, time.Hour, nil)
				if test.want == "" && err != nil {
					t.Error(err)
				} else if test.want != "" {
					wantError(t, err, test.want)
				}
				if test.want != "" && took > 5*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestAwaitStopsWithItsContext(t *testing.T) {
	in, waiting := scene(t, "recorded-candidate-ingress")
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("the runner cancelled the job")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1500*time.Millisecond, func() { cancel(stop) })
		p := &play{begin: time.Now(), scene: func(time.Duration, *play) (Observed, error) { return waiting, nil }}
		w := &waiter{argo: p, in: in, events: new(events)}
		_, err := w.run(ctx)
		if !errors.Is(err, stop) || time.Since(p.begin) != 1500*time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(p.begin))
		}
	})
}

func TestOnceAsksAgainAfterAnError(t *testing.T) {
	t.Parallel()
	asked := 0
	carries := once(func(context.Context, string) (bool, error) {
		if asked++; asked == 1 {
			return false, ErrBehind
		}
		return true, nil
	})
	for i, want := range []bool{false, true, true} {
		if got, err := carries(t.Context(), "bbbb"); got != want || (err == nil) != want {
			t.Errorf("answer %d: got %v, %v", i, got, err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

func TestRelate(t *testing.T) {
	t.Parallel()
	failure := errors.New("no network")
	for _, test := range []struct {
		revision string
		carries  bool
		err      error
		want     Relation
	}{
		{"", false, nil, Unknown},
		{"aaaa", false, failure, Same},
		{"bbbb", true, nil, Carrying},
		{"bbbb", false, nil, Displaced},
		{"bbbb", false, ErrBehind, Behind},
		{"bbbb", false, failure, Unknown},
	} {
		in := Intent{Commit: "aaaa", Carries: func(context.Context, string) (bool, error) { return test.carries, test.err }}
		got, err := relate(t.Context(), in, test.revision)
		if got != test.want || (err != nil) != (test.want == Unknown && test.revision != "") {
			t.Errorf("%v: got %v, %v", test, got, err)
		}
	}
	if got, _ := relate(t.Context(), Intent{Commit: "aaaa"}, "bbbb"); got != Behind {
		t.Errorf("without Carries: got %v", got)
	}
	if !slices.ContainsFunc([]Relation{Same, Carrying}, Relation.ours) || Displaced.ours() || Behind.ours() || Unknown.ours() {
		t.Error("only Same and Carrying are ours")
	}
}
