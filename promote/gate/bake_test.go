package gate

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/live"
)

// script is a Cluster that shows one verdict after the other, the last one
// for ever.
type script struct {
	verdicts []argo.Verdict
	seen     argo.Observed
	err      error
	checks   int
}

func (s *script) Check(context.Context, argo.Intent) (argo.Verdict, argo.Observed, error) {
	i := min(s.checks, len(s.verdicts)-1)
	s.checks++
	if s.verdicts[i].State == away {
		return argo.Verdict{}, argo.Observed{}, errors.New("connection refused")
	}
	return s.verdicts[i], s.seen, s.err
}

func (*script) Await(context.Context, argo.Intent, func(argo.Verdict)) (argo.Observed, error) {
	return argo.Observed{}, nil
}

// away stands for an Argo CD that does not answer.
const away argo.CommitState = -1

// unsaid is the error where it does not for too long.
const unsaid = "inconclusive: nobody can see whether it is still live: connection refused"

func repeated(times int, state argo.CommitState) []argo.Verdict {
	return slices.Repeat(states(state), times)
}

// quiet says nothing.
func quiet(string, ...any) {}

// said are the words and the error of an Outcome.
func (o Outcome) said() (reason string, err error) { return o.Reason, o.Err }

func inconclusive(err error) bool {
	_, is := errors.AsType[Inconclusive](err)
	return is
}

func states(list ...argo.CommitState) []argo.Verdict {
	var verdicts []argo.Verdict
	for _, state := range list {
		verdicts = append(verdicts, argo.Verdict{State: state, Reason: "as told"})
	}
	return verdicts
}

// uncomparable are verdicts of an Argo CD that cannot compare what is live as intended.
func uncomparable(times int) []argo.Verdict {
	return slices.Repeat([]argo.Verdict{{State: argo.Wait, Trouble: "comparison", Intended: true, Reason: "as told"}}, times)
}

func TestBake(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bake     time.Duration
		verdicts []argo.Verdict
		took     time.Duration
		want     string // the error; empty: passed
	}{
		"stays good":                     {time.Hour, states(argo.Live), time.Hour, ""},
		"shorter than the interval":      {2 * time.Second, states(argo.Live), 2 * time.Second, ""},
		"turns bad":                      {time.Hour, states(argo.Live, argo.Live, argo.Failed), 15 * time.Second, "no longer good: as told"},
		"is superseded":                  {time.Hour, states(argo.Live, argo.Superseded), 10 * time.Second, "superseded: as told"},
		"recovers in time":               {time.Minute, states(argo.Live, argo.Wait, argo.Wait, argo.Live), time.Minute, ""},
		"does not recover":               {time.Hour, states(argo.Live, argo.Wait), 35 * time.Second, "no longer live: as told"},
		"cannot be seen any more":        {time.Hour, states(argo.Live, away), 5*time.Minute + 5*time.Second, unsaid},
		"cannot be seen at the end":      {10 * time.Second, states(argo.Live, away), 5*time.Minute + 5*time.Second, unsaid},
		"cannot be seen for two minutes": {time.Hour, slices.Concat(states(argo.Live), repeated(24, away), states(argo.Live)), time.Hour, ""},
		"is bad when it is seen again":   {time.Hour, slices.Concat(states(argo.Live), repeated(24, away), states(argo.Failed)), 130 * time.Second, "no longer good: as told"},
		"is not live when it is seen again": {time.Hour, slices.Concat(states(argo.Live), repeated(24, away), states(argo.Wait)), 155 * time.Second,
			"no longer live: as told"},
		"is not live, with looks between that fail": {time.Hour, slices.Concat(states(argo.Live), slices.Repeat(states(away, argo.Wait), 40)), 65 * time.Second,
			"no longer live: as told"},
		"cannot be compared for a while": {time.Minute, append(append(states(argo.Live), uncomparable(8)...), states(argo.Live)...), time.Minute, ""},
		"cannot be compared at the end": {10 * time.Second, append(states(argo.Live), uncomparable(1)...), 5*time.Minute + 10*time.Second,
			"inconclusive: the live Service is as the commit says, but nobody knows whether the commit still stands: as told"},
		"can be seen again past the end": {10 * time.Second, states(argo.Live, away, away, argo.Live), 20 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := bakeWith(t.Context(), test.bake, test.verdicts)
				if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
					t.Errorf("got %v, want %q", err, test.want)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
			})
		})
	}
}

// bakeWith asks the gate bake of a step, with an Argo CD that says these verdicts.
func bakeWith(ctx context.Context, long time.Duration, verdicts []argo.Verdict) error {
	step := Step{Name: "10 %", Bake: long}
	return Settings{WaitForData: 5 * time.Minute}.bakeGate(step).Check(ctx, Ask{Step: step, Cluster: &script{verdicts: verdicts}, Say: quiet}).Err
}

// TestBakeWithoutAPod has a revision that is live and whose users wait for its first pod.
func TestBakeWithoutAPod(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		active corev1.ConditionStatus
		took   time.Duration
		want   string
	}{
		"asked for": {corev1.ConditionUnknown, live.StartWithin, "no pod of revision web-2, which had none, has become ready yet, although it is asked for"},
		"not asked": {corev1.ConditionFalse, time.Minute, ""},
		"runs":      {corev1.ConditionTrue, time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &servingv1.Revision{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}}
				r.Status.Conditions = duckv1.Conditions{{Type: servingv1.RevisionConditionActive, Status: test.active}}
				cluster := &script{verdicts: states(argo.Live), seen: argo.Observed{Revision: r}}
				began := time.Now()
				err := Settings{Wait: time.Hour}.bakeGate(Step{Bake: time.Minute}).Check(t.Context(), Ask{To: "web-2", Cluster: cluster, Say: quiet}).Err
				if took := time.Since(began); took != test.took || err == nil && test.want != "" || err != nil && err.Error() != test.want {
					t.Errorf("%v after %s, want %q after %s", err, took, test.want, test.took)
				}
			})
		})
	}
}

// TestBakeBearsALateLook has a look that takes longer than trouble may last, and is the first that sees some.
func TestBakeBearsALateLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		err := bake(t.Context(), 2*time.Minute, time.Minute, func(context.Context) error {
			if looks++; looks != 5 {
				return nil
			}
			time.Sleep(28 * time.Second)
			return transient{error: errors.New("a sync is about to start")}
		})
		if err != nil || looks < 6 {
			t.Errorf("%v after %d looks", err, looks)
		}
	})
}

// TestBakeBearsEachTrouble has a pod that is waited for longer than other trouble may last, and such trouble once in between.
func TestBakeBearsEachTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		err := bake(t.Context(), 2*time.Minute, time.Minute, func(context.Context) error {
			looks++
			switch {
			case looks == 10:
				return transient{error: errors.New("missing")}
			case looks > 1 && looks < 12:
				return transient{errors.New("no pod"), live.StartWithin}
			}
			return nil
		})
		if err != nil || looks < 12 {
			t.Errorf("%v after %d looks", err, looks)
		}
	})
}

func TestBakeEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeoutCause(t.Context(), time.Minute, ErrTimeout)
		defer stop()
		err := bakeWith(ctx, time.Hour, states(argo.Live))
		if !errors.Is(err, ErrTimeout) {
			t.Errorf("got %v, want %v", err, ErrTimeout)
		}
	})
}

// TestBakeLooksAfterItsEnd has a look that began while a step baked, and whose answer comes after the end, as on a machine that was
// suspended: it says nothing of the end.
func TestBakeLooksAfterItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		err := bake(t.Context(), 8*time.Second, time.Minute, func(context.Context) error {
			if looks++; looks == 1 {
				time.Sleep(10 * time.Second)
				return nil
			}
			return errors.New("gone")
		})
		if err == nil || err.Error() != "gone" {
			t.Errorf("got %v after %d looks, want what the second one finds", err, looks)
		}
	})
}
