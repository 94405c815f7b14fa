package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/record"
)

// textAlone is an overlay rolled back, or its traffic alone, where that brings no more than what runs set and its text, and the whole does:
// a patch may be meant for the old tag alone. Where both do, users come first.
func textAlone(ctx context.Context, c Settings, back Reversal, now, whole *knative.State, before record.Record) Edited {
	check, err := knative.TextOf(ctx, now)
	if err != nil {
		return Edited{State: whole} // whatever it brings has followed all the time
	}
	more := check(ctx, whole)
	if more == nil {
		return Edited{State: whole}
	}
	state, err := trafficReversed(ctx, c, back, now, before)
	if err != nil || check(ctx, state) != nil {
		return Edited{State: whole, Brings: more}
	}
	return Edited{State: state, Refused: more}
}

// trafficReversed is an overlay with the traffic of the destination and the
// template as it is, under its name or, where somebody has changed it, under one of its own:
// Knative refuses what was changed without a new name.
func trafficReversed(ctx context.Context, c Settings, back Reversal, now *knative.State, record record.Record) (*knative.State, error) {
	if ready := back.Dest.Readiness(); ready.Gone {
		return nil, fmt.Errorf("revision %s %s", back.Dest.Revision, ready.Why)
	}
	if now.Revision() == "" {
		return nil, errors.New("the template has no name that could stay")
	}
	text, err := reversalRecord(c, back, now, back.Dest.Traffic, record).Encode()
	if err != nil {
		return nil, err
	}
	revision := now.Revision()
	if back.Keeps != nil {
		revision = back.Keeps.Revision // the commit before has written the old one
	}
	if made, known, err := now.Made(revision); err == nil && known && !made {
		if revision, err = now.NextRevision(); err != nil {
			return nil, err
		}
	}
	if revision, err = untaken(back, now, revision); err != nil {
		return nil, err
	}
	after, err := now.Route(ctx, revision, back.Dest.Traffic, text, back.Live)
	if err != nil {
		return nil, err
	}
	return back.checked(ctx, c, now, after, revision, back.Dest.Traffic)
}
