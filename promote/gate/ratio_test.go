package gate

import (
	"time"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/slo"
)

// perMinute is how Argo Rollouts' and Flagger's examples judge: the ratio of
// each minute is measured once, and more failed measurements than failureLimit
// end the promotion. What is left of the last minute is measured too. A minute
// without requests is not held against the image.
func (w *world) perMinute(steps []Step, failureLimit int) end {
	var before slo.Counts
	failed := 0
	for i, step := range steps {
		seconds := planned(step)
		for second := range seconds {
			w.second(step.Percent)
			last := i == len(steps)-1 && second == seconds-1
			if w.clock%60 > 0 && !last {
				continue
			}
			if beyond(w.seen.Since(before)) {
				failed++
			}
			if before = w.seen; failed > failureLimit {
				return end{event.RolledBack, step.Percent, w.clock, w.failedOfUsers}
			}
		}
	}
	return end{status: event.Promoted}
}

// beyond tells whether more than 1 % of the requests failed, or were slow.
func beyond(c slo.Counts) bool { return float64(max(c.Failed, c.Slow)) > 0.01*float64(c.Requests) }

// planned is how many seconds a step takes. Without a bake time that is as many
// as 50 requests take at 10 a second.
func planned(step Step) int { return max(5, int(step.Bake/time.Second)) }
