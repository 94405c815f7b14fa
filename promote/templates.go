package promote

import (
	"github.com/acme/knative-promote/promote/setting"
)

// loadAnalysis reads the templates at the tip, where the run began. A promotion that goes on
// is judged by those that the branch has by then: what its record says of commits, whoever may
// push to a branch can write.
func loadAnalysis(p *targetRun) error {
	if !p.gates.Measures() {
		return nil
	}
	wrong := p.gates.Read(p.at.Tree, p.at.Now.Objects())
	for _, err := range wrong {
		p.journal.Say("analysis: %v", err)
	}
	switch len(wrong) {
	case 0:
		return nil
	case 1:
		return setting.Bad("analysis, at commit %.10s: %w", p.at.Tip.Hash, wrong[0])
	}
	return setting.Bad("analysis, at commit %.10s: %w; and %d more, which the log has", p.at.Tip.Hash, wrong[0], len(wrong)-1)
}
