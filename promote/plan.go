package promote

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// Situation is what a plan is made from: the overlay at the branch's tip and
// as it would be with the images set, what is live, and what the commits say
// of the promotion before.
type Situation struct {
	Tip         gitops.Commit
	Tree        fs.FS          // the files at the tip
	Now         *knative.State // the overlay at the tip
	Next        *knative.State // the same with the images set
	LatestReady string         // live revision that takes the traffic of `latest`; empty: the Service is not live yet
	Past        *gitops.Commit // newest commit of a promotion of this Service; nil: none
	Fresh       bool           // Past is so young that its run may have stopped before its gates
	NoPrevious  bool           // the revision under the tag `previous` is known to be gone
}

// Plan is what is left to do, in order.
type Plan struct {
	ID    string // shared by the promotion's commits
	Base  string // commit whose overlay a failed gate restores; empty: nothing to go back to
	From  string // the old revision; empty on a Service's first deployment
	To    string // the new revision
	Image string // the image that gives the promotion its name
	Steps []Change

	tip    string         // the commit that the plan was made on
	now    *knative.State // what the first commit starts from
	images []string       // the containers' images of the new revision
}

// A Change is one commit of a promotion and what must be true after it.
type Change struct {
	Name    string // candidate, 10 %, 100 %
	Subject string
	Percent int
	Bake    time.Duration
	Traffic []servingv1.TrafficTarget
	Done    bool // the tip shows it: its gates are asked, nothing is committed
}

// Restorable tells whether there is something to go back to.
func (p Plan) Restorable() bool { return p.Base != "" }

// Last tells whether the i-th step gives the new revision all traffic.
func (p Plan) Last(i int) bool { return p.Steps[i].Percent == 100 }

// NewPlan computes what is left to do. It is pure: the same configuration and
// situation give the same plan.
func NewPlan(c Config, at Situation) (Plan, error) {
	to, err := at.Next.NextRevision()
	if err != nil {
		return Plan{}, err
	}
	traffic, err := at.Now.Traffic()
	if err != nil {
		return Plan{}, err
	}
	split, err := knative.ReadSplit(traffic, c.CandidateTag)
	if err != nil {
		return Plan{}, fmt.Errorf("overlay %s: %w", c.Overlay, err)
	}
	if at.NoPrevious {
		split.Previous = ""
	}
	set := at.Now.Revision() == to && at.Now.SameTemplate(at.Next)
	switch {
	case set && split.Candidate == to:
		return resume(c, at, split)
	case set && split.Candidate == "" && split.Stable == to:
		return finished(c, at, split), nil
	}
	return start(c, at, split, to)
}

// start plans a promotion from its first commit. One that is under way with
// another revision is taken over: its candidate goes, its base stays.
func start(c Config, at Situation, split knative.Split, to string) (Plan, error) {
	from := split.Stable
	if from == "" {
		from = at.LatestReady
	}
	plan := Plan{Base: at.Tip.Hash, From: from, To: to}
	plan.describe(at)
	if split.Candidate != "" {
		if err := ownCandidate(at, split); err != nil {
			return Plan{}, err
		}
		plan.Base = at.Past.Trailer(trailerBase)
	}
	plan.ID = id(c, plan)
	steps := c.Steps
	switch {
	case from == "": // first deployment: nothing has the traffic, nothing to go back to
		plan.Base, steps = "", []Step{{Percent: 100}}
	case from == to: // back to what has the traffic: nothing to shift
		split.Stable, split.Candidate = to, ""
		plan.Steps = []Change{change(c, plan, split, Step{Percent: 100})}
		return plan, nil
	case steps[0].Percent > 0:
		steps = append([]Step{{}}, steps...)
	}
	plan.Steps = changes(c, plan, split, steps)
	return plan, nil
}

// resume plans the rest of a promotion that is under way: the gates of the
// step that Git shows, then the steps above it.
func resume(c Config, at Situation, split knative.Split) (Plan, error) {
	if err := ownCandidate(at, split); err != nil {
		return Plan{}, err
	}
	plan := Plan{
		ID: at.Past.Trailer(trailerID), Base: at.Past.Trailer(trailerBase),
		From: split.Stable, To: split.Candidate,
	}
	plan.describe(at)
	steps := []Step{{Percent: split.Percent}}
	for _, step := range c.Steps {
		switch {
		case step.Percent == split.Percent:
			steps[0] = step
		case step.Percent > split.Percent:
			steps = append(steps, step)
		}
	}
	plan.Steps = changes(c, plan, split, steps)
	plan.Steps[0].Done = true
	return plan, nil
}

// finished plans nothing but a look at what is there. Only a fresh promotion
// may still be taken back: its run may have stopped before the last gates.
func finished(c Config, at Situation, split knative.Split) Plan {
	plan := Plan{To: split.Stable, From: split.Previous}
	plan.describe(at)
	step := Step{Percent: 100}
	if at.Past != nil && at.Past.Trailer(trailerTo) == plan.To {
		plan.ID, plan.From = at.Past.Trailer(trailerID), at.Past.Trailer(trailerFrom)
		if at.Fresh && at.Past.Trailer(trailerStep) == "100" {
			plan.Base = at.Past.Trailer(trailerBase)
			step = c.Steps[len(c.Steps)-1]
			step.Percent = 100
		}
	}
	done := change(c, plan, split, step)
	done.Done = true
	plan.Steps = []Change{done}
	return plan
}

// ownCandidate refuses to move a candidate that no promotion put there.
func ownCandidate(at Situation, split knative.Split) error {
	if at.Past != nil && at.Past.Trailer(trailerTo) == split.Candidate && at.Past.Trailer(trailerBase) != "" {
		return nil
	}
	return fmt.Errorf("revision %s has the tag of the candidate, but no commit of knative-promote gave it that: take it out of the traffic in %s first, or choose another candidate-tag",
		split.Candidate, at.Now.Overlay)
}

func changes(c Config, plan Plan, split knative.Split, steps []Step) []Change {
	var list []Change
	for _, step := range steps {
		split.Stable, split.Candidate, split.Percent = plan.From, plan.To, step.Percent
		list = append(list, change(c, plan, split, step))
	}
	return list
}

func change(c Config, plan Plan, split knative.Split, step Step) Change {
	name := fmt.Sprintf("%d %%", step.Percent)
	what := name + " to " + short(c.Service, plan.To)
	if step.Percent == 0 {
		name = "candidate"
		what = "candidate " + short(c.Service, plan.To) + " at 0 %"
	}
	return Change{
		Name:    name,
		Subject: strings.TrimSpace(c.Service+" "+c.Environment) + ": " + what + " (" + version(plan.Image) + ")",
		Percent: step.Percent,
		Bake:    step.Bake,
		Traffic: split.Targets(c.CandidateTag, c.KeepPrevious),
	}
}

// describe notes what the plan starts from and which images it leads to.
func (p *Plan) describe(at Situation) {
	p.tip, p.now, p.images, p.Image = at.Tip.Hash, at.Now, at.Next.Images(), headline(at.Now, at.Next)
}

// id is the same for the same promotion from the same commit, whoever runs it.
func id(c Config, plan Plan) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{plan.Base, c.Overlay, c.Service, plan.To}, "\n")))
	return hex.EncodeToString(sum[:6])
}

// headline is the first image that the promotion changes, or the first one
// there is.
func headline(now, next *knative.State) string {
	was, is := now.Images(), next.Images()
	for i := range is {
		if i >= len(was) || is[i] != was[i] {
			return is[i]
		}
	}
	if len(is) == 0 {
		return ""
	}
	return is[0]
}

// short is a revision's name without the Service's.
func short(service, revision string) string {
	return strings.TrimPrefix(revision, service+"-")
}

// version is an image's tag, or the beginning of its digest.
func version(image string) string {
	name, digest, pinned := strings.Cut(image, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		return name[i+1:]
	}
	if pinned {
		return digest[:min(len(digest), len("sha256:")+12)]
	}
	return "no tag"
}
