package plan

import (
	"context"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// restored is an overlay with the tool's own files as they were, byte for byte but for the record. They are taken where
// they say just what is wanted and make the very revision that has run: which commit they are of, the record may have been
// made to say. Nil: they are not.
func restored(ctx context.Context, back Reversal, next *knative.State, revision string, traffic []servingv1.TrafficTarget, text []byte) (*knative.State, error) {
	was, ran := back.Dest.State, back.Dest.Found
	if was == nil || ran == nil || !was.Owned() || !Shows(was, revision, traffic) || knative.CheckOwn(was) != nil {
		return nil, nil
	}
	after, err := next.RestoreRoute(ctx, was, text)
	if err != nil || knative.CheckOwn(after) != nil { // beside other files they may say more
		return nil, err
	}
	if fits, err := after.Fits(ran, back.Live); err != nil || !fits {
		return nil, err
	}
	return after, nil
}
