package promote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/promote/setting"
)

// loadAnalysis reads the templates at the commit where the promotion began: what
// has changed since then does not change how it is judged.
func loadAnalysis(ctx context.Context, p *targetRun) error {
	if !p.gates.Measures() {
		return nil
	}
	tree, began, err := whereItBegan(ctx, p)
	if err != nil {
		return err
	}
	wrong := p.gates.Read(tree, p.at.Now.Objects())
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

// whereItBegan is the tree of the commit where the promotion began. Where history
// was rewritten and that commit is gone, it is the tip's.
func whereItBegan(ctx context.Context, p *targetRun) (tree fs.FS, commit string, err error) {
	if p.resumed() && p.plan.Base != "" && p.systems.Commits != nil {
		then, err := p.systems.Commits.At(ctx, p.plan.Base)
		if err == nil {
			return then.Tree, p.plan.Base, nil
		}
		if !errors.Is(err, remote.ErrNotFound) {
			return nil, "", fmt.Errorf("reading the AnalysisTemplates at commit %.10s: %w", p.plan.Base, err)
		}
		p.journal.Say("commit %.10s, where the promotion began, is gone: the AnalysisTemplates are read at %.10s", p.plan.Base, p.at.Tip.Hash)
	}
	return p.at.Tree, p.at.Tip.Hash, nil
}
