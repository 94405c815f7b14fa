package ask_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/journal"
)

// says is a gate that answers after a while, or ends with its context.
func says(name string, after time.Duration, err error) gate.Gate {
	return gate.Gate{Name: name, Check: func(ctx context.Context, _ gate.Ask) gate.Outcome {
		if over := sleep.For(ctx, after); over != nil {
			return gate.Outcome{Err: over}
		}
		return gate.Outcome{Reason: "as told", Err: err}
	}}
}

func TestGatesSideBySide(t *testing.T) {
	t.Parallel()
	unclear := gate.Inconclusive{Err: errors.New("too few")}
	for name, test := range map[string]struct {
		gates  []gate.Gate
		goesOn bool
		took   time.Duration
		want   string // the error, and what becomes of the gates
	}{
		"all pass":                     {[]gate.Gate{says("a", 2*time.Second, nil), says("b", 5*time.Second, nil)}, false, 5 * time.Second, "<nil>; a passed, b passed"},
		"one fails, the other ends":    {[]gate.Gate{says("a", 2*time.Second, errors.New("bad")), says("b", time.Hour, nil)}, false, 2 * time.Second, "10 %: gate a: bad; a failed, b skipped"},
		"the second fails first":       {[]gate.Gate{says("a", time.Hour, nil), says("b", time.Second, errors.New("bad"))}, false, time.Second, "10 %: gate b: bad; a skipped, b failed"},
		"one is inconclusive":          {[]gate.Gate{says("a", 2*time.Second, unclear), says("b", 5*time.Second, nil)}, false, 5 * time.Second, "10 %: gate a: inconclusive: too few; a inconclusive, b passed"},
		"inconclusive, then a failure": {[]gate.Gate{says("a", 2*time.Second, unclear), says("b", 5*time.Second, errors.New("bad"))}, false, 5 * time.Second, "10 %: gate b: bad; a inconclusive, b failed"},
		"inconclusive may pass":        {[]gate.Gate{says("a", 2*time.Second, unclear), says("b", 5*time.Second, nil)}, true, 5 * time.Second, "<nil>; a inconclusive, b passed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				j := journal.New(event.Result{Steps: []event.Step{{Name: "10 %"}}}, silent{})
				gates := ask.Gates{GoesOn: test.goesOn}
				err := gates.All(t.Context(), test.gates, &gate.Ask{}, j.Begin(0), seen)
				var became []string
				for _, g := range j.Result.Steps[0].Gates {
					became = append(became, g.Name+" "+string(g.Progress))
				}
				if got := fmt.Sprintf("%v; %s", err, strings.Join(became, ", ")); got != test.want || time.Since(began) != test.took {
					t.Errorf("after %s: %s\nwant after %s: %s", time.Since(began), got, test.took, test.want)
				}
				if warned := j.Result.Warning != ""; warned != (test.goesOn) {
					t.Errorf("warning %q", j.Result.Warning)
				}
			})
		})
	}
}

func TestGateThatPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if cause := recover(); cause != "broken" {
			t.Errorf("recovered %v, want the gate's own cause where the run is", cause)
		}
	}()
	j := journal.New(event.Result{Steps: []event.Step{{}}}, silent{})
	breaks := gate.Gate{Name: "a", Check: func(context.Context, gate.Ask) gate.Outcome { panic("broken") }}
	_ = (&ask.Gates{}).All(t.Context(), []gate.Gate{breaks}, &gate.Ask{}, j.Begin(0), seen)
}

// TestTimeEndsGates: where the run's timeout ends the gates, one that counts has not failed,
// and the others were only cut off.
func TestTimeEndsGates(t *testing.T) {
	t.Parallel()
	counts := gate.Gate{Name: "slo", Check: func(ctx context.Context, _ gate.Ask) gate.Outcome {
		return gate.Outcome{Err: gate.Inconclusive{Err: sleep.For(ctx, time.Hour)}}
	}}
	for name, test := range map[string]struct {
		gates []gate.Gate
		want  string
	}{
		"one that counts":  {[]gate.Gate{counts}, "10 %: gate slo: inconclusive: the run's timeout is over"},
		"beside the bake":  {[]gate.Gate{says("bake", time.Hour, nil), counts}, "10 %: gate slo: inconclusive: the run's timeout is over"},
		"the bake alone":   {[]gate.Gate{says("bake", time.Hour, nil)}, "10 %: gate bake: the run's timeout is over"},
		"beside a failure": {[]gate.Gate{says("bake", time.Second, errors.New("bad")), counts}, "10 %: gate bake: bad"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeoutCause(t.Context(), time.Minute, gate.ErrTimeout)
				defer stop()
				j := journal.New(event.Result{Steps: []event.Step{{Name: "10 %"}}}, silent{})
				if err := (&ask.Gates{}).All(ctx, test.gates, &gate.Ask{}, j.Begin(0), seen); err == nil || err.Error() != test.want {
					t.Errorf("got %v, want %s", err, test.want)
				}
			})
		})
	}
}

// seen is told what gates have seen of the Service, which decides nothing here.
func seen(argo.Observed) {}

// silent is a Reporter that says nothing.
type silent struct{}

func (silent) Tell(event.Event, event.Result) {}
func (silent) Line(string)                    {}
func (silent) Debug(string)                   {}
