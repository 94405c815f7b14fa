package promote

import (
	"context"
	"slices"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/check"
)

// Preflight says what a promotion does about an error that it finds before its
// first commit. The zero value is PreflightError.
type Preflight string

// The kinds of preflight.
const (
	PreflightError Preflight = "error" // the run ends before anything is pushed
	PreflightWarn  Preflight = "warn"  // the run says so and goes on
	PreflightOff   Preflight = "off"   // nothing is looked at
)

// preflightTime is how long a promotion waits for what it can do without.
const preflightTime = 10 * time.Second

// preflight looks for what would break the promotion, before the first commit.
// What it cannot read never stops it.
func (r *run) preflight(ctx context.Context, at Situation) error {
	if r.Preflight == PreflightOff || at.App == nil || r.Setup == nil {
		return nil
	}
	facts := r.facts(ctx, at)
	facts.Outside, _ = kustomize.Outside(ctx, at.Tree, r.Overlay) // it has been rendered before
	asked, stop := context.WithTimeout(ctx, preflightTime)
	defer stop()
	r.gather(asked, &facts, at, func() (argo.Setup, error) { return r.Setup.Essentials(asked, at.App), nil })
	if err := ctx.Err(); err != nil {
		return err
	}
	skip := r.Skip
	if name, err := at.Next.NextRevision(); err == nil && name == at.Now.Revision() {
		skip = append(slices.Clone(skip), check.OutOfSync) // what is under way is gone on with, or taken back
	}
	findings := check.Run(facts, skip...)
	r.journal.found(findings)
	if r.Preflight == PreflightWarn || check.Count(findings, check.Error) == 0 {
		return nil
	}
	return &PreflightStop{findings}
}
