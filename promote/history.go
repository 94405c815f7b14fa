package promote

import (
	"context"
	"regexp"
	"strconv"

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

// runAddress is that of a workflow run: the server and the number, which grows
// over all repositories of a server.
var runAddress = regexp.MustCompile(`^(https?://[^/]+)/.+/actions/runs/([0-9]{1,18})(?:/|$)`)

// newerRun tells whether a workflow run was started after another one.
func newerRun(run, than string) bool {
	a, b := runAddress.FindStringSubmatch(run), runAddress.FindStringSubmatch(than)
	if a == nil || b == nil || a[1] != b[1] {
		return false
	}
	x, errX := strconv.ParseInt(a[2], 10, 64)
	y, errY := strconv.ParseInt(b[2], 10, 64)
	return errX == nil && errY == nil && x > y
}
