package plan

import (
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/record"
)

// Confirming is what a commit has rolled back that a tip shows, as one that can be made of it once
// more.
func Confirming(at Situation) Reversal { return reversalOf(at.Now, at.Record, at) }

// LeavingOut takes targets out of what a commit of it has made, whose record says what it is of.
func (back Reversal) LeavingOut(made Edited, has record.Record, at Situation) Reversal {
	again := reversalOf(made.State, has, at)
	again.Reason, again.Refused = back.Reason, made.Refused
	return again
}

// reversalOf is what an overlay shows by its record, which is of a commit that rolls back.
func reversalOf(made *knative.State, has record.Record, at Situation) Reversal {
	back, left := has.To, has.From
	if has.Step == record.Restore {
		back, left = left, back
	}
	traffic, _ := made.Traffic() // it has been read before
	return Reversal{
		Plan: Plan{
			Target: at.Target, ID: has.Promotion, Base: has.Base, From: back.Revision, To: left.Revision, Tag: at.Tag, Now: made, Record: has,
			Started: has.Started, FromVersion: has.From, toVersion: has.To,
		},
		Step: has.Step, Dest: Destination{Version: back, Traffic: traffic}, Live: at.Live,
		MayChange: func(now *knative.State, _ record.Record) bool {
			return now.SameTemplate(made) && ShownAt(made).routedBy(now)
		},
	}
}
