package promote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/destination"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/overlay"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/pull"
	"github.com/acme/knative-promote/promote/runs"
	"github.com/acme/knative-promote/promote/source"
)

// A targetRun is what a run does for one of its targets: what it has seen of it,
// what it plans, and the journal of that.
type targetRun struct {
	config  Config
	systems Systems
	plan.Target
	infra   overlay.Reader
	service live.Service
	journal *journal.Journal

	gates      ask.Gates
	at         plan.Situation   // as last seen
	automated  bool             // Argo CD has synced the Application by itself when it was seen first
	plan       plan.Plan        // of a promotion: what is left to do
	origin     source.Taken     // what the images of the plan are taken from
	planned    []*knative.State // what its first and its last commit that are left lead to
	uneditable error            // why those cannot be made; nil: they can
	begun      int              // how many of the plan's steps the run has come to
	reached    event.Status     // how it ends if nothing stops the run; empty: unchanged
	stays      bool             // a run that fails has nothing of it to roll back
	lost       error            // why it is not rolled back with the others: somebody else has changed it, or it cannot be
}

func newTargetRun(command event.Command, c Config, target plan.Target, on Systems, started time.Time) *targetRun {
	asked := event.Result{Command: command, DryRun: c.DryRun, RunURL: c.RunURL, Actor: c.Actor, Approved: c.Approved, Started: started}
	switch {
	case c.DryRun && command == event.CommandPromote:
		asked.Command = event.CommandDiff
	case command == event.CommandRollback:
		asked.Reason = c.Reason
	}
	p := &targetRun{config: c, systems: on, gates: c.gates(on.Sources), journal: journal.New(asked, on.Reporter)}
	p.origin = source.Taken{
		Reader:   source.Reader{Wants: c.Wants, Branch: on.SourceBranch, Has: on.SourceHas, Cluster: on.SourceCluster, Statuses: on.Statuses},
		TryAgain: c.Guards.PassesOver(guard.OverrideRolledBack), Reason: c.Reason, Journal: p.journal, Commits: on.Commits,
	}
	p.setTarget(target)
	return p
}

// A targetError is an error of one target of a run.
type targetError struct {
	of *targetRun
	error
}

// Unwrap gives the error itself.
func (e *targetError) Unwrap() error { return e.error }

// named says of which target an error is, in words where there are several.
func (p *targetRun) named(err error) error {
	if err == nil {
		return nil
	}
	if len(p.config.Targets) > 1 {
		err = fmt.Errorf("%s: %w", strings.TrimSpace(p.Service+" "+p.Environment), err)
	}
	return &targetError{p, err}
}

// noteLost keeps with its target the error that says that somebody else has changed
// that target. It is for errors that have ended a step: what an edit says of some
// commit is only an answer, and a proposal's branch is asked about too.
func noteLost(err error) error {
	if of, ok := errors.AsType[*targetError](err); ok && isSuperseded(err) {
		of.of.lost = err
	}
	return err
}

func (p *targetRun) setTarget(target plan.Target) {
	p.Target = target
	p.infra = overlay.Reader{Target: target, Branch: p.systems.Branch, Commits: p.systems.Commits, Debug: p.systems.Reporter.Debug, Tag: p.config.CandidateTag, Repairs: p.journal.Result.Command == event.CommandRollback}
	p.origin.Overlay = p.infra
	p.service = live.Service{Target: target, Cluster: p.systems.Cluster}
	p.journal.Tell(event.Named{Target: Named(target)})
}

// Named is a target as a Result names it.
func Named(t plan.Target) event.Target {
	return event.Target{Service: t.Service, Environment: t.Environment, Overlay: t.Overlay, Application: t.App.String()}
}

// read reads the overlay at the tip, and finds the Service's name in it.
func (p *targetRun) read(ctx context.Context, tip gitops.Snapshot) error {
	at, err := p.infra.Situation(ctx, tip)
	p.at = at
	if err != nil {
		return err
	}
	p.setTarget(at.Target)
	for _, remark := range at.Remarks(p.config.CandidateTag) {
		p.journal.Say("%s", remark)
	}
	p.at.Images = p.config.Images
	p.at.Next, err = plan.WithImages(ctx, at.Now, p.at.Images)
	return err
}

// overlayAfter is the overlay as the plan leaves it.
func overlayAfter(p *targetRun) *knative.State {
	if len(p.planned) == 0 {
		return p.at.Now
	}
	return p.planned[len(p.planned)-1]
}

// observe sees what is live, after the overlay at the tip. Patience is how long
// Argo CD may take; zero: as long as the run has.
func (p *targetRun) observe(ctx context.Context, patience time.Duration) error {
	if err := runs.Superseded(p.at, p.config.RunURL, p.config.To != ""); err != nil {
		return err
	}
	if err := p.lookLive(ctx, patience); err != nil {
		return err
	}
	return lookAtRevisions(ctx, p)
}

// settle observes the target. A first promotion begins from what Knative serves, so it waits
// while that is about to change.
func settle(ctx context.Context, p *targetRun) error {
	err := p.observe(ctx, 0)
	if err != nil || p.at.Now.Revision() != "" || p.at.OldReadiness.Down() || p.config.DryRun {
		return err
	}
	if waited, err := p.service.Settle(ctx, p.at.Live, p.config.Gates.Wait, p.journal.Say); err != nil || !waited {
		return err
	}
	return p.observe(ctx, 0)
}

// lookAtRevisions sees which revisions of the traffic Knative can route to, and
// what the one with the traffic runs.
func lookAtRevisions(ctx context.Context, p *targetRun) error {
	traffic, err := p.at.Now.Traffic()
	if err != nil {
		return err
	}
	p.at.Unroutable = p.service.Unroutable(ctx, p.at.Live, traffic, p.at.Now.Revision(), p.at.Tag)
	split, _ := p.at.Split() // what is wrong with it is said where it is planned
	if old := cmp.Or(split.Stable, p.at.LatestReady); old != "" {
		p.at.Old, p.at.OldReadiness = p.service.Readiness(ctx, p.at.Live, old)
	}
	if p.at.OldReadiness.Why != "" && split.Candidate != "" {
		_, p.at.NewReadiness = p.service.Readiness(ctx, p.at.Live, split.Candidate)
	}
	return nil
}

// lookLive asks Argo CD for the Service. One that is not there yet is a first
// deployment. A plan alone can do without Argo CD.
func (p *targetRun) lookLive(ctx context.Context, patience time.Duration) error {
	seen, err := p.service.Observe(ctx, patience)
	if errors.Is(err, errNoCluster) {
		p.at.LatestReady = p.Service + "-current"
		p.journal.Say("without Argo CD the live revision's name is not known; it is shown as %s", p.at.LatestReady)
		return nil
	}
	if err != nil {
		return err
	}
	p.saw(seen)
	if p.at.Live != nil {
		p.at.LatestReady = live.Serving(p.at.Live)
	}
	return nil
}

// saw keeps what was seen of the Application and the live Service.
func (p *targetRun) saw(seen argo.Observed) {
	if seen.App != nil {
		p.automated = p.automated || p.at.App == nil && argo.Automated(seen.App)
		p.at.App = seen.App
	}
	if seen.Service != nil {
		p.at.Live = seen.Service
		p.journal.Tell(journal.SeenLive(seen, p.at.Tag))
	}
}

// resumed tells whether Git showed a step of the plan before the run.
func (p *targetRun) resumed() bool { return len(p.plan.Steps) > 0 && p.plan.Steps[0].Done }

func (p *targetRun) committed() bool { return p.journal.Result.Changed || p.resumed() }

// stop ends the steps, and notes whether there is something to roll back. A step that
// the run has not come to may be there by a pull request of an earlier one.
func (p *targetRun) stop() {
	p.journal.Skip()
	p.stays = !p.plan.Restorable() || p.begun == 0 || p.lost != nil
}

// pulls are the pull requests of the target.
func (p *targetRun) pulls() pull.Requests {
	return pull.Requests{Reviews: p.systems.Reviews, Mode: p.config.Mode, RunURL: p.config.RunURL, Overlay: p.infra, Journal: p.journal}
}

// destinations finds where the target can be rolled back to.
func (p *targetRun) destinations() destination.Finder {
	return destination.Finder{At: p.at, Overlay: p.infra, Live: p.service, Has: p.systems.Has, To: p.config.To, KeepPrevious: p.config.KeepPrevious, Journal: p.journal}
}

// emergencyLook is how long a rollback waits for what it can do without.
const emergencyLook = 5 * time.Second

// noteRollback tells which revision a rollback of each target leads to now, also where the run's time is over.
func noteRollback(ctx context.Context, superseded bool, targets ...*targetRun) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), emergencyLook)
	defer stop()
	for _, p := range targets {
		p.journal.Tell(event.RollbackLeads{To: p.destinations().Leads(ctx, p.plan, p.journal.Result.RollbackTo, superseded)})
	}
}
