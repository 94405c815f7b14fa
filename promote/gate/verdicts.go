package gate

import (
	"time"

	"github.com/acme/knative-promote/argo"
)

// heartbeat is the longest silence in the log.
const heartbeat = 25 * time.Second

// Verdicts logs what is waited for: when it changes, and now and then while it
// does not, so that nobody takes a long wait for a dead run.
func Verdicts(say func(format string, args ...any)) func(argo.Verdict) {
	var last string
	var said time.Time
	return func(v argo.Verdict) {
		if v.Reason == last && time.Since(said) < heartbeat {
			return
		}
		last, said = v.Reason, time.Now()
		say("%s: %s", v.State, v.Reason)
	}
}
