package promote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/argo"
)

// isLive waits until Argo CD and Knative show exactly what the commit says.
func (p *Promotion) isLive(ctx context.Context, at *Position) (string, error) {
	wait, stop := context.WithTimeoutCause(ctx, p.WaitTimeout, errWait)
	defer stop()
	began := time.Now()
	seen, err := p.Cluster.Await(wait, at.Intent, p.sayVerdict())
	at.Observed = seen
	p.see(seen)
	if err != nil {
		if errors.Is(context.Cause(wait), errWait) {
			err = fmt.Errorf("not live after %s: %w", p.WaitTimeout, err)
		}
		return "", err
	}
	return fmt.Sprintf("live and ready after %s", time.Since(began).Round(100*time.Millisecond)), nil
}

var errWait = errors.New("the wait-timeout is over")

// sayVerdict logs what is waited for: when it changes, and now and then while
// it does not, so that nobody takes a long wait for a dead run.
func (p *Promotion) sayVerdict() func(argo.Verdict) {
	var last string
	var said time.Time
	return func(v argo.Verdict) {
		if v.Reason == last && time.Since(said) < heartbeat {
			return
		}
		last, said = v.Reason, time.Now()
		p.say("%s: %s", v.State, v.Reason)
	}
}

// heartbeat is the longest silence in the log.
const heartbeat = 25 * time.Second
