package promote

import (
	"context"

	"github.com/acme/knative-promote/promote/gate"
)

// keepWarm asks the candidates now and then until it is stopped, so that what is
// warm stays so until the next step is live.
func keepWarm(ctx context.Context, r *run) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	for _, p := range r.targets {
		url, err := gate.CandidateURL(p.at.Live, p.at.Tag, 0)
		if err == nil { // else it has all traffic, or none of its own
			go p.config.Gates.KeepWarm(ctx, url)
		}
	}
	return stop
}
