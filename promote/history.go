package promote

import (
	"context"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/promote/overlay"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// Past is what an overlay tells of its promotions.
type Past struct {
	Service string
	Traffic []servingv1.TrafficTarget // that the overlay says now; none: it goes to the latest revision
	Entries []record.Entry            // newest first: the promotion or rollback that it shows, and up to ten before it
}

// History reads the promotions and rollbacks that the overlay's record has.
func History(ctx context.Context, target plan.Target, branch Branch) (Past, error) {
	tip, err := branch.Tip(ctx)
	if err != nil {
		return Past{}, err
	}
	at, err := overlay.Reader{Target: target, Debug: func(string) {}}.Situation(ctx, tip)
	if err == nil && at.Unreadable != nil {
		err = record.Unreadable(at.Now, at.Unreadable)
	}
	if err != nil {
		return Past{}, err
	}
	traffic, err := at.Now.Traffic()
	return Past{at.Service, traffic, at.Record.Of(target.Place()).Entries()}, err
}
