package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
)

// Plan is what is left to do, in order.
type Plan struct {
	Target
	ID    string // shared by the promotion's commits
	Base  string // commit whose overlay a failed gate restores; empty: nothing to roll back to
	From  string // the old revision; empty on a Service's first deployment
	To    string // the new revision
	Image string // the image that gives the promotion its name
	Steps []PlannedStep

	// Routable is traffic without the targets at 0 % that Knative cannot route to. Nil: it is not asked.
	Routable func([]servingv1.TrafficTarget) []servingv1.TrafficTarget

	images                 []kustomize.Image // to set
	Source                 record.Source     // what the images were taken from
	Code                   record.Code       // what the images of the source were made of
	Pull                   int               // the pull request that begins it; 0: none does
	Tag                    string            // that the new revision has below 100 %
	Alone                  string            // why the new revision gets all traffic in one step; empty: it does not
	Started                time.Time         // when the run began, for the record
	Tip                    string            // the commit that the plan was made on
	Now                    *knative.State    // what the first commit starts from
	Record                 record.Record     // what the overlay says at the tip
	FromVersion, toVersion record.Version
}

// A PlannedStep is one commit of a promotion and what must be true after it.
type PlannedStep struct {
	Name    string // candidate, 10 %, 100 %
	Subject string
	Percent int
	Bake    time.Duration
	AtOnce  bool // it takes the place of all steps
	Traffic []servingv1.TrafficTarget
	Done    bool // the tip shows it: its gates are asked, nothing is committed
}

// Step is what was asked for.
func (c PlannedStep) Step() Step { return Step{Percent: c.Percent, Bake: c.Bake, AtOnce: c.AtOnce} }

// Restorable tells whether there is something else to roll back to.
func (p Plan) Restorable() bool { return p.Base != "" && p.Restores().From.Revision != p.To }

// Last tells whether the i-th step gives the new revision all traffic.
func (p Plan) Last(i int) bool { return p.Steps[i].Percent == 100 }

// LastStep is the name of the last step in the record.
func (p Plan) LastStep() string { return record.StepOf(p.Steps[len(p.Steps)-1].Percent) }

// Closed tells whether the record says already that the last step has passed.
// An overlay without a record of this promotion has none to close.
func (p Plan) Closed() bool {
	return p.ID == "" || p.Record.Is(p.ID, p.LastStep()) && p.Record.HasPassed()
}

// Restores is what the plan's promotion is rolled back to.
func (p Plan) Restores() record.Entry {
	return p.Record.Of(p.Place()).RestoredBy(p.ID, record.Entry{From: p.FromVersion, Base: p.Base})
}

// Shifts tells whether the steps give the new revision more traffic. Where it has
// had it all along, a promotion to another revision ends with this one.
func (p Plan) Shifts() bool { return p.From != p.To }

// ShowsStep tells whether an overlay shows a step of the plan, by the record,
// unless somebody has broken that, and by the fields.
func (p Plan) ShowsStep(now *knative.State, record record.Record) bool {
	if p.showsAnyStep(now, record) {
		return true
	}
	return slices.ContainsFunc(p.Steps, func(c PlannedStep) bool {
		want := p.Expected(c)
		if !record.Exists() {
			want.Promotion = ""
		}
		return want.ShownBy(now, record)
	})
}

// showsAnyStep tells the same of a step that another run has made, which has others.
func (p Plan) showsAnyStep(now *knative.State, record record.Record) bool {
	traffic, err := now.Traffic()
	if err != nil || record.RollsBack() {
		return false
	}
	split, err := knative.ReadSplit(traffic, p.Tag, nil)
	want := Expected{Version: p.toVersion, Promotion: p.ID, Step: record.Step, Traffic: traffic}
	return err == nil && record.Disagreement(p.Place(), split) == "" && want.ShownBy(now, record)
}

// New computes what is left to do. It is pure: the same configuration and
// situation give the same plan.
func New(c Settings, at Situation) (Plan, error) {
	if at.Unreadable != nil {
		return Plan{}, record.Unreadable(at.Now, at.Unreadable)
	}
	if err := at.Next.Shows(at.Images); err != nil {
		return Plan{}, setting.Bad("overlay %s: %w", at.Overlay, err)
	}
	to, err := at.Next.NextRevision()
	if err != nil {
		return Plan{}, err
	}
	split, err := at.Split()
	if err != nil {
		return Plan{}, err
	}
	set := at.Now.Revision() == to && at.Now.SameTemplate(at.Next)
	switch {
	case set && split.Candidate == to:
		return resume(c, at, split)
	case set && split.Candidate == "" && split.Stable == to:
		return finished(c, at, split)
	}
	return start(c, at, split, to)
}

// start plans a promotion from its first commit. One that is under way with
// another revision is taken over: its candidate goes, its base stays.
func start(c Settings, at Situation, split knative.Split, to string) (Plan, error) {
	from := split.Stable
	if from == "" {
		from = at.LatestReady
	}
	plan := Plan{Base: at.Tip.Hash, From: from, To: to, FromVersion: at.VersionOf(from)}
	plan.startFrom(at)
	if split.Candidate != "" && !byHand(at, split) {
		if err := OwnCandidate(at, split); err != nil {
			return Plan{}, err
		}
		plan.Base, plan.FromVersion = at.Record.Base, at.Record.From
	}
	plan.ID = plan.IDAfter(at.Record)
	steps := c.Steps
	switch {
	case from == "": // first deployment: nothing has the traffic, nothing to roll back to
		plan.Base, steps = "", []Step{atOnce(c.Steps)}
	case from != to && c.goesAlone(at):
		plan.Alone = alone(at, from)
		steps = []Step{atOnce(c.Steps)}
	case from == to: // back to what has the traffic: nothing to shift
		split.Stable, split.Candidate = to, ""
		plan.Steps = []PlannedStep{plannedStep(c, plan, split, Step{Percent: 100, Bake: c.Steps[len(c.Steps)-1].Bake})}
		return plan, nil
	case steps[0].Percent > 0:
		steps = append([]Step{{}}, steps...)
	}
	plan.Steps = plannedSteps(c, plan, split, steps)
	return plan, nil
}

// resume plans the rest of a promotion that is under way: the gates of the
// step that Git shows, then the steps above it. A step that has passed does not
// bake again.
func resume(c Settings, at Situation, split knative.Split) (Plan, error) {
	if err := OwnCandidate(at, split); err != nil {
		return Plan{}, err
	}
	if last := c.Steps[len(c.Steps)-1].Percent; last < split.Percent {
		return Plan{}, setting.Bad("steps: the last is %d, but %s has %d %% already: expected a last step of %d or more, or a rollback",
			last, split.Candidate, split.Percent, split.Percent)
	}
	plan := Plan{ID: at.Record.Promotion, Base: at.Record.Base, From: split.Stable, To: split.Candidate, FromVersion: at.Record.From}
	plan.startFrom(at)
	steps := []Step{{Percent: split.Percent}}
	for _, step := range c.Steps {
		switch {
		case step.Percent == split.Percent:
			steps[0] = step
		case step.Percent > split.Percent:
			steps = append(steps, step)
		}
	}
	if at.Record.HasPassed() {
		steps[0].Bake = 0
	}
	if split.Percent < 100 && c.goesAlone(at) && (at.NewReadiness.Why == "" || at.NewReadiness.Gone) {
		plan.Alone = alone(at, plan.From)
		steps = append(steps[:1], atOnce(steps[1:]))
	}
	plan.Steps = plannedSteps(c, plan, split, steps)
	plan.Steps[0].Done = true
	var err error
	plan.Steps[0].Traffic, err = at.Now.Traffic() // with the tags that people have added
	return plan, err
}

// finished plans nothing but a look at what is there, or a commit without the
// targets that keep Knative from routing. Only a promotion whose last gates have
// not passed may still be rolled back, however old it is. One that somebody has finished by
// hand is judged, and noted in a commit of its own.
func finished(c Settings, at Situation, split knative.Split) (Plan, error) {
	plan := Plan{To: split.Stable, From: split.Previous}
	plan.startFrom(at)
	step, byHand := Step{Percent: 100}, finishedByHand(at, split)
	if r := at.Record; byHand || r.Step == record.StepOf(100) && r.Disagreement(at.Place(), split) == "" {
		plan.ID, plan.From, plan.FromVersion = r.Promotion, r.From.Revision, r.From
		if byHand || !r.HasPassed() {
			plan.Base = r.Base
			step = c.Steps[len(c.Steps)-1]
			step.Percent = 100
			if plan.From == "" {
				step = atOnce(c.Steps) // a first deployment
			}
		}
	}
	if len(at.Unroutable) > 0 {
		if plan.ID == "" {
			plan.From, plan.FromVersion = split.Stable, at.VersionOf(split.Stable) // it moves nothing, and ends nothing
		}
		plan.ID = Plan{Target: plan.Target, Base: at.Tip.Hash, To: plan.To}.IDAfter(at.Record) // its step is made once more
	}
	traffic, err := at.Now.Traffic()
	last := plannedStep(c, plan, split, step)
	last.Traffic, last.Done = at.routable(traffic), len(at.Unroutable) == 0 && !byHand
	plan.Steps = []PlannedStep{last}
	return plan, err
}

func plannedSteps(c Settings, plan Plan, split knative.Split, steps []Step) []PlannedStep {
	var list []PlannedStep
	for _, step := range steps {
		split.Stable, split.Candidate, split.Percent = plan.From, plan.To, step.Percent
		list = append(list, plannedStep(c, plan, split, step))
	}
	return list
}

func plannedStep(c Settings, plan Plan, split knative.Split, step Step) PlannedStep {
	name := fmt.Sprintf("%d %%", step.Percent)
	what := name + " to " + Short(plan.Service, plan.To)
	if step.Percent == 0 {
		name = "candidate"
		what = "candidate " + Short(plan.Service, plan.To) + " at 0 %"
	}
	return PlannedStep{
		Name:    name,
		Subject: Subject(plan.Target, what+" ("+ImageVersion(plan.Image)+")"),
		Percent: step.Percent,
		Bake:    step.Bake,
		AtOnce:  step.AtOnce,
		Traffic: split.Targets(plan.Tag, c.KeepPrevious),
	}
}

// OfRollback is a rollback to a revision as a plan: one commit, without steps.
func OfRollback(at Situation, revision string, started time.Time) Plan {
	left := at.leaves()
	p := Plan{Target: at.Target, Base: at.Tip.Hash, From: revision, To: left.Revision, Tag: at.Tag, Now: at.Now, Record: at.Record, Started: started, FromVersion: left}
	p.ID = RollbackID(p.Target, p.Base, revision)
	return p
}

// RollbackID is that of a rollback to a revision which begins on a commit.
func RollbackID(t Target, base, revision string) string {
	return Plan{Target: t, Base: base, To: revision}.IDAfter(record.Record{Step: record.Rollback})
}

// startFrom notes what the plan starts from and which images it leads to.
func (p *Plan) startFrom(at Situation) {
	p.Target = at.Target
	p.Tip, p.Tag, p.Now, p.Record, p.Image, p.images = at.Tip.Hash, at.Tag, at.Now, at.Record, NewImage(at.Now, at.Next), at.Images
	p.toVersion = record.VersionOf(p.To, at.Next)
}

// IDAfter is the same for the same promotion from the same commit and record, whoever
// runs it.
func (p Plan) IDAfter(before record.Record) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{p.Base, p.Overlay, p.Service, p.To, before.Promotion, before.Step}, "\n")))
	return hex.EncodeToString(sum[:6])
}
