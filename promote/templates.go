package promote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/setting"
)

// loadAnalysis reads the templates at the commit where the promotion began: what
// has changed since then does not change how it is judged.
func (p *targetRun) loadAnalysis(ctx context.Context) error {
	if len(p.Gates.Analysis.Entries) == 0 {
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
		p.journal.Say("analysis: %v", err)
	}
	if len(wrong) > 1 {
		return setting.Bad("analysis, at commit %.10s: %w; and %d more, which the log has", began, wrong[0], len(wrong)-1)
	}
	return setting.Bad("analysis, at commit %.10s: %w", began, wrong[0])
}

// measurable wants the measurements to fit into the run's time, before the first
// commit: what is under way is measured as far as it comes.
func (p *targetRun) measurable(ctx context.Context) error {
	deadline, limited := ctx.Deadline()
	if !limited || len(p.Gates.Analysis.Entries) == 0 || p.resumed() {
		return nil
	}
	least := p.templates.Least(p.allSteps())
	if left := time.Until(deadline); least > left {
		return setting.Bad("timeout: the measurements of the analysis, and what the steps must stay good for, take %s, and the run has %s left; "+
			"expected a longer timeout, for example %s, or fewer steps or measurements", least, left.Round(time.Second), 2*least)
	}
	return nil
}

// whereItBegan is the tree of the commit where the promotion began. Where history
// was rewritten and that commit is gone, it is the tip's.
func (p *targetRun) whereItBegan(ctx context.Context) (tree fs.FS, commit string, err error) {
	if p.resumed() && p.plan.Base != "" && p.Commits != nil {
		then, err := p.Commits.At(ctx, p.plan.Base)
		if err == nil {
			return then.Tree, p.plan.Base, nil
		}
		if !errors.Is(err, gitops.ErrNotFound) {
			return nil, "", fmt.Errorf("reading the AnalysisTemplates at commit %.10s: %w", p.plan.Base, err)
		}
		p.journal.Say("commit %.10s, where the promotion began, is gone: the AnalysisTemplates are read at %.10s", p.plan.Base, p.at.Tip.Hash)
	}
	return p.at.Tree, p.at.Tip.Hash, nil
}

// readAnalysis reads the templates in a tree, and says all that is wrong with them.
func (p *targetRun) readAnalysis(tree fs.FS) (wrong []error) {
	p.templates, wrong = p.Gates.ReadTemplates(p.Sources, p.allSteps(), tree, p.at.Now.Objects())
	return wrong
}

// furtherRights are what the token must be allowed because of the run's inputs.
func (p *targetRun) furtherRights() []argo.Right {
	if len(p.templates.CronJobs()) == 0 {
		return nil
	}
	return []argo.Right{argo.MayStartJobs}
}
