package plan

import (
	"regexp"
	"slices"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/record"
)

// The trailers of a promotion's commits repeat the record for people who read
// the log. Nothing reads them back, but for where a run's own commits, and those of an overlay,
// may be: what those have tells then.
const (
	TrailerID       = "Promotion"
	TrailerService  = "Promotion-Service"
	TrailerOverlay  = "Promotion-Overlay"
	TrailerStep     = "Promotion-Step"
	trailerImage    = "Promotion-Image"
	trailerFrom     = "Promotion-From"
	trailerTo       = "Promotion-To"
	trailerBase     = "Promotion-Base"
	trailerRun      = "Promotion-Run"
	trailerActor    = "Promotion-Actor"
	TrailerPassed   = "Promotion-Passed"
	TrailerOverride = "Promotion-Override"
)

// TrailerReason is the trailer that says in words why a commit was made.
const TrailerReason = "Promotion-Reason"

// RunTrailer says which workflow run has made a commit.
func RunTrailer(run string) gitops.Trailer { return gitops.Trailer{Key: trailerRun, Value: run} }

// OverlayTrailer says which overlay a commit has changed.
func OverlayTrailer(overlay string) gitops.Trailer {
	return gitops.Trailer{Key: TrailerOverlay, Value: overlay}
}

// acted are the beginnings of what a forge acts on in a commit's message: it mentions people,
// and closes issues and pull requests. skips are those of what has it run no workflow for the
// commit, without which a required check of a pull request never comes.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
// https://docs.github.com/en/actions/how-tos/manage-workflow-runs/skip-workflow-runs
var (
	acted = regexp.MustCompile(`((?:^|\W)@|#|!|\bGH-|/(?:issues|pulls?|merge_requests)/)(\w)`)
	skips = regexp.MustCompile(`(?i)\[(\s*(?:skip|no|ci|actions)\b)`)
)

// Trailers say in a commit what it is part of. What a gate has failed for may quote anybody's
// answer, so no forge is to act on it.
func Trailers(c Settings, plan Plan, step, from, to, reason string) []gitops.Trailer {
	if step == record.Restore {
		reason = skips.ReplaceAllString(acted.ReplaceAllString(reason, "$1 $2"), "($1")
	}
	all := []gitops.Trailer{
		{Key: TrailerID, Value: plan.ID}, {Key: TrailerService, Value: plan.Service}, OverlayTrailer(plan.Overlay),
		{Key: TrailerStep, Value: step}, {Key: trailerImage, Value: plan.Image},
		{Key: trailerFrom, Value: from}, {Key: trailerTo, Value: to}, {Key: trailerBase, Value: plan.Base},
		RunTrailer(c.RunURL), {Key: trailerActor, Value: c.Actor}, {Key: TrailerReason, Value: reason},
	}
	return slices.DeleteFunc(all, func(t gitops.Trailer) bool { return t.Value == "" })
}
