package promote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/oneline"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/analysis/condition"
)

// mostReason is how much of an analysis is said in a sentence, in bytes.
const mostReason = 1000

// analysisGate measures what the AnalysisTemplates of the step ask for.
func (p *part) analysisGate(step Step) Gate {
	if !p.Analysis.Asked(step.Percent) {
		return Gate{}
	}
	if p.unread != nil {
		return Gate{Name: "analysis", Check: func(context.Context, *Position) (string, error) { return "", inconclusive{p.unread} }}
	}
	times := analysis.Times{Bake: step.Bake, Wait: p.WaitForData}
	return Gate{
		Name:     "analysis",
		Patience: max(step.Bake+p.WaitForData, p.suite.Patience(analysis.Step(step), p.WaitForData)),
		Check: func(ctx context.Context, at *Position) (string, error) {
			asked, _ := p.suite.At(step.Percent, p.analysisFacts(at))
			assessment, err := asked.Run(ctx, p.Sources, times)
			if err != nil {
				return "", cutOff(err)
			}
			return p.assessed(assessment)
		},
	}
}

// assessed is what a gate says of an analysis. What Argo Rollouts would have said
// otherwise, and what is wrong with a dry run, stands in the log.
func (p *part) assessed(a analysis.Assessment) (string, error) {
	for _, metric := range a.Metrics {
		if metric.DryRun && metric.Phase != condition.Successful || metric.Rollouts != metric.Phase {
			p.journal.say("analysis: %s", oneline.Of(metric.Words(), mostReason))
		}
	}
	reason := oneline.Of(a.Reason, mostReason)
	switch a.Phase {
	case condition.Successful:
		return reason, nil
	case condition.Inconclusive:
		return "", inconclusive{errors.New(reason)}
	}
	return "", errors.New(reason)
}

// analysisFacts are what templates may ask for at a position.
func (p *part) analysisFacts(at *Position) analysis.Facts {
	facts := analysis.Facts{
		Service: p.Service, Revision: p.plan.To, Stable: p.plan.From, Image: p.plan.Image,
		Commit: at.Commit, Percent: at.Step.Percent, Step: at.Step.Name, Live: time.Now(),
	}
	if service := at.Observed.Service; service != nil {
		facts.Namespace = service.Namespace
		if service.Status.URL != nil {
			facts.URL = service.Status.URL.String()
		}
		facts.CandidateURL, _ = candidateURL(service, p.CandidateTag, at.Step.Percent) // none is said where it is asked for
	}
	if revision := at.Observed.Revision; revision != nil {
		facts.Created = revision.CreationTimestamp.Time
	}
	return facts
}

// loadAnalysis reads the templates at the commit where the promotion began: what
// has changed since then does not change how it is judged.
func (p *part) loadAnalysis(ctx context.Context) error {
	if len(p.Analysis.Entries) == 0 {
		return nil
	}
	tree, began, err := p.whereItBegan(ctx)
	if err != nil {
		return err
	}
	wrong := p.readAnalysis(tree)
	if len(wrong) == 0 {
		return nil
	}
	for _, err := range wrong {
		p.journal.say("analysis: %v", err)
	}
	if len(wrong) > 1 {
		return badInput("analysis, at commit %.10s: %w; and %d more, which the log has", began, wrong[0], len(wrong)-1)
	}
	return badInput("analysis, at commit %.10s: %w", began, wrong[0])
}

// measurable wants the measurements to fit into the run's time, before the first
// commit: what is under way is measured as far as it comes.
func (p *part) measurable(ctx context.Context) error {
	deadline, limited := ctx.Deadline()
	if !limited || len(p.Analysis.Entries) == 0 || p.resumed() {
		return nil
	}
	var least time.Duration
	for _, step := range p.analysisSteps() {
		least += p.suite.Least(step)
	}
	if left := time.Until(deadline); least > left {
		return badInput("timeout: the measurements of the analysis, and what the steps must stay good for, take %s, and the run has %s left; "+
			"expected a longer timeout, for example %s, or fewer steps or measurements", least, left.Round(time.Second), 2*least)
	}
	return nil
}

// whereItBegan is the tree of the commit where the promotion began. Where history
// was rewritten and that commit is gone, it is the tip's.
func (p *part) whereItBegan(ctx context.Context) (tree fs.FS, commit string, err error) {
	if p.resumed() && p.plan.Base != "" && p.Commits != nil {
		then, err := p.Commits.At(ctx, p.plan.Base)
		if err == nil {
			return then.Tree, p.plan.Base, nil
		}
		if !errors.Is(err, gitops.ErrNotFound) {
			return nil, "", fmt.Errorf("reading the AnalysisTemplates at commit %.10s: %w", p.plan.Base, err)
		}
		p.journal.say("commit %.10s, where the promotion began, is gone: the AnalysisTemplates are read at %.10s", p.plan.Base, p.at.Tip.Hash)
	}
	return p.at.Tree, p.at.Tip.Hash, nil
}

// analysisSteps are the steps after which an analysis may be asked for.
func (p *part) analysisSteps() (steps []analysis.Step) {
	if p.Steps[0].Percent > 0 {
		steps = append(steps, analysis.Step{}) // the candidate's
	}
	for _, step := range p.Steps {
		steps = append(steps, analysis.Step(step))
	}
	return steps
}

// readAnalysis reads the templates in a tree, and says all that is wrong with them.
func (p *part) readAnalysis(tree fs.FS) (wrong []error) {
	if len(p.Analysis.Entries) == 0 {
		return nil
	}
	steps := p.analysisSteps()
	p.suite, wrong = analysis.Load(p.Analysis, p.Sources, steps, tree)
	p.jobs = p.suite.Jobs(steps)
	return append(wrong, wrongCronJobs(p.jobs, p.at.Now.Objects())...)
}
