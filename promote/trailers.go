package promote

import (
	"slices"

	"github.com/acme/knative-promote/gitops"
)

// The trailers of a promotion's commits repeat the record for people who read
// the log. Nothing reads them back.
const (
	trailerID       = "Promotion"
	trailerService  = "Promotion-Service"
	trailerOverlay  = "Promotion-Overlay"
	trailerStep     = "Promotion-Step"
	trailerImage    = "Promotion-Image"
	trailerFrom     = "Promotion-From"
	trailerTo       = "Promotion-To"
	trailerBase     = "Promotion-Base"
	trailerRun      = "Promotion-Run"
	trailerActor    = "Promotion-Actor"
	trailerPassed   = "Promotion-Passed"
	trailerOverride = "Promotion-Override"
)

// TrailerReason is the trailer that says in words why a commit was made.
const TrailerReason = "Promotion-Reason"

// trailers say in a commit what it is part of.
func trailers(c Settings, plan Plan, step, from, to, reason string) []gitops.Trailer {
	all := []gitops.Trailer{
		{Key: trailerID, Value: plan.ID}, {Key: trailerService, Value: plan.Service}, {Key: trailerOverlay, Value: plan.Overlay},
		{Key: trailerStep, Value: step}, {Key: trailerImage, Value: plan.Image},
		{Key: trailerFrom, Value: from}, {Key: trailerTo, Value: to}, {Key: trailerBase, Value: plan.Base},
		{Key: trailerRun, Value: c.RunURL}, {Key: trailerActor, Value: c.Actor}, {Key: TrailerReason, Value: reason},
	}
	return slices.DeleteFunc(all, func(t gitops.Trailer) bool { return t.Value == "" })
}
