package promote

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/plan"
)

// silent is a Reporter that says nothing.
type silent struct{}

func (silent) Tell(event.Event, event.Result) {}
func (silent) Line(string)                    {}
func (silent) Debug(string)                   {}

// lines keeps what a run says.
type lines struct {
	silent
	said []string
}

func (l *lines) Line(text string) { l.said = append(l.said, text) }

// TestTimeIsTold has a timeout that is shorter than what the gates may take.
func TestTimeIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for limit, want := range map[time.Duration]string{
			10 * time.Minute: "timeout: the run has 10m0s left, and its gates may take up to 18m0s: one that is asked when the time ends counts as failed, " +
				"or as inconclusive where it counts requests; give a longer timeout, or shorter times in steps",
			18 * time.Minute: "",
		} {
			ctx, stop := context.WithTimeout(t.Context(), limit)
			defer stop()
			log := &lines{}
			c := Config{Gates: gate.Settings{Wait: 5 * time.Minute}}
			p := &targetRun{config: c, gates: c.gates(analysis.Sources{}), journal: journal.New(event.Result{}, log)}
			p.plan.Steps = []plan.PlannedStep{{Percent: 10, Bake: 5 * time.Minute}, {Percent: 100}}
			tellTime(ctx, p)
			if got := strings.Join(log.said, "\n"); got != want {
				t.Errorf("%s: got %q, want %q", limit, got, want)
			}
		}
	})
}
