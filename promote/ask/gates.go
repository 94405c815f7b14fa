// Package ask asks the gates of a target after its steps: side by side, the first failure
// ends the others, and each answer is noted in the journal.
package ask

import (
	"context"
	"io/fs"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/setting"
	"github.com/acme/knative-promote/promote/slo"
)

// Gates are those that a target is asked after its steps. What the analysis's templates
// ask for is known once they have been read.
type Gates struct {
	Settings  gate.Settings
	Steps     []plan.Step      // that the run is asked for
	Sources   analysis.Sources // what AnalysisTemplates measure with
	GoesOn    bool             // one that is inconclusive counts as passed
	Templates gate.Templates   // as they were read last
	Counted   []slo.Period     // the candidate's requests in the steps that were asked about
}

// Step is a step as its gates know it.
func (g *Gates) Step(name string, step plan.Step) gate.Step {
	asked := gate.Step{Name: name, Percent: step.Percent, Bake: step.Bake, AtOnce: step.AtOnce}
	for _, s := range g.Steps {
		if s.Percent > step.Percent {
			asked.Next = s.Percent
			break
		}
	}
	return asked
}

// steps are those after which a gate may be asked: the candidate's and those that
// were asked for.
func (g *Gates) steps() (all []gate.Step) {
	if g.Steps[0].Percent > 0 {
		all = append(all, g.Step("", plan.Step{}))
	}
	for _, step := range g.Steps {
		all = append(all, g.Step("", step))
	}
	return all
}

// Read reads the AnalysisTemplates in a tree whose overlay renders to some objects, and says
// all that is wrong with them.
func (g *Gates) Read(tree fs.FS, rendered []unstructured.Unstructured) (wrong []error) {
	g.Templates, wrong = g.Settings.ReadTemplates(g.Sources, g.steps(), tree, rendered)
	return wrong
}

// Measures tells whether AnalysisTemplates are named.
func (g *Gates) Measures() bool { return len(g.Settings.Analysis.Entries) > 0 }

// Fit wants the measurements to fit into the run's time. The error is bad input.
func (g *Gates) Fit(ctx context.Context) error {
	deadline, limited := ctx.Deadline()
	if !limited || !g.Measures() {
		return nil
	}
	least := g.Templates.Least(g.steps())
	if left := time.Until(deadline); least > left {
		return setting.Bad("timeout: the measurements of the analysis, and what the steps must stay good for, take %s, and the run has %s left; "+
			"expected a longer timeout, for example %s, or fewer steps or measurements", least, left.Round(time.Second), 2*least)
	}
	return nil
}

// Rights are what the token for Argo CD must be allowed because of them.
func (g *Gates) Rights() []argo.Right {
	if len(g.Templates.CronJobs()) == 0 {
		return nil
	}
	return []argo.Right{argo.MayStartJobs}
}

// After are the gates after a step, in rows: those of one are asked side by side.
// Those that unasked names are left out.
func (g *Gates) After(step gate.Step, unasked func(gate.Gate, gate.Step) bool) [][]gate.Gate {
	rows := g.Settings.After(step, g.Templates)
	for i, row := range rows {
		rows[i] = slices.DeleteFunc(row, func(g gate.Gate) bool { return unasked(g, step) })
	}
	return rows
}

// Longest is the longest that the gates of all steps take, and those of the candidate.
func (g *Gates) Longest() time.Duration {
	total := gate.Patience(g.Settings.After(g.Step("", plan.Step{}), g.Templates)) // the candidate
	for _, step := range g.Steps {
		total += gate.Patience(g.Settings.After(g.Step("", step), g.Templates))
	}
	return total
}
