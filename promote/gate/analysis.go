package gate

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/analysis/condition"
	"github.com/acme/knative-promote/promote/analysis/template"
	"github.com/acme/knative-promote/promote/setting"
)

// mostReason is how much of an analysis is said in a sentence, in bytes.
const mostReason = 1000

// Templates are the AnalysisTemplates that the settings name, as a tree has them. The
// zero value has none.
type Templates struct {
	Unread error // why they could not be read, so that the gate is inconclusive; nil: they could

	suite analysis.Suite
	jobs  []template.Metric // those with a job
}

func analysisKind() Kind {
	return Kind{
		Name: "analysis", Passes: "the AnalysisTemplates for this step are Successful", Asked: "with `analysis`, side by side with `bake`", Sends: "analysis",
		Inputs: func(s *Settings) []setting.Row {
			return []setting.Row{
				{Name: "analysis", Said: setting.Guard, Example: "analysis/success-rate.yaml at=10,50", Value: setting.Bind(&s.Analysis.Entries, analysis.ParseEntries),
					Usage: "files of the infra repository with AnalysisTemplates of Argo Rollouts, one per line, that are measured after a step: `FILE`, or `FILE at=STEPS` " +
						"with `every`, `candidate`, `final` or percentages"},
				{Name: "analysis-args", With: "analysis", Said: setting.Guard, Of: []string{"analysis"}, Example: "service-name=shop.prod.svc.cluster.local", Value: setting.Bind(&s.Analysis.Args, analysis.ParsePairs),
					Usage: "values for the arguments that the AnalysisTemplates declare, one `NAME=VALUE` per line"},
				{Name: "analysis-secrets", With: "analysis", Said: setting.Never, Example: "prometheus-token/token=${{ secrets.PROMETHEUS_TOKEN }}", Secret: true, Parts: pairSecrets, Value: setting.Bind(&s.Analysis.Secrets, analysis.ParsePairs),
					Usage: "values for what the AnalysisTemplates read from Secrets, one `SECRET/KEY=VALUE` per line"},
			}
		},
		Gate: func(s Settings, step Step, templates Templates) Gate { return s.analysisGate(step, templates) },
	}
}

// pairSecrets are the values of lines name=value, without their names.
func pairSecrets(text string) []string {
	pairs, err := analysis.ParsePairs(text)
	if err != nil {
		return nil
	}
	return slices.Collect(maps.Values(pairs))
}

// ReadTemplates reads the templates in a tree whose overlay renders to some objects,
// and says all that is wrong with them at some steps.
func (s Settings) ReadTemplates(sources analysis.Sources, steps []Step, tree fs.FS, rendered []unstructured.Unstructured) (t Templates, wrong []error) {
	if len(s.Analysis.Entries) == 0 {
		return t, nil
	}
	var of []analysis.Step
	for _, step := range steps {
		of = append(of, step.analysed())
	}
	t.suite, wrong = analysis.Load(s.Analysis, sources, of, tree)
	t.jobs = t.suite.Jobs(of)
	return t, append(wrong, wrongCronJobs(t.jobs, rendered)...)
}

func (s Step) analysed() analysis.Step {
	return analysis.Step{Percent: s.Percent, Bake: s.Bake, AtOnce: s.AtOnce}
}

// Least is how long the measurements of the steps take at least, and what the steps
// must stay good for.
func (t Templates) Least(steps []Step) (least time.Duration) {
	for _, step := range steps {
		least += t.suite.Least(step.analysed())
	}
	return least
}

// analysisGate measures what the AnalysisTemplates of the step ask for.
func (s Settings) analysisGate(step Step, templates Templates) Gate {
	if !s.Analysis.Asked(step.analysed()) {
		return Gate{}
	}
	if templates.Unread != nil {
		return Gate{Check: func(context.Context, Ask) Outcome { return Outcome{Err: Inconclusive{templates.Unread}} }}
	}
	suite, times := templates.suite, analysis.Times{Bake: step.Bake, Wait: s.WaitForData}
	return Gate{
		Patience: max(step.Bake+s.WaitForData, suite.Patience(step.analysed(), s.WaitForData)),
		Check: func(ctx context.Context, ask Ask) Outcome {
			asked, _ := suite.At(step.analysed(), ask.facts())
			assessment, err := asked.Run(ctx, ask.Sources, times)
			if err != nil {
				return Outcome{Err: cutOff(err)}
			}
			return ask.assessed(assessment)
		},
	}
}

// assessed is what the gate says of an analysis. What Argo Rollouts would have said
// otherwise, and what is wrong with a dry run, stands in the log.
func (a Ask) assessed(of analysis.Assessment) Outcome {
	for _, metric := range of.Metrics {
		if metric.DryRun && metric.Phase != condition.Successful || metric.Rollouts != metric.Phase {
			a.Say("analysis: %s", oneline.Of(metric.Words(), mostReason))
		}
	}
	reason := oneline.Of(of.Reason, mostReason)
	switch of.Phase {
	case condition.Successful:
		return Outcome{Reason: reason}
	case condition.Inconclusive:
		return Outcome{Err: Inconclusive{errors.New(reason)}}
	}
	return Outcome{Err: errors.New(reason)}
}

// facts are what templates may ask for.
func (a Ask) facts() analysis.Facts {
	facts := analysis.Facts{
		Service: a.Service, Revision: a.To, Stable: a.From, Image: a.Image,
		Commit: a.Commit, Percent: a.Step.Percent, Step: a.Step.Name, Live: time.Now(),
	}
	if service := a.Observed.Service; service != nil {
		facts.Namespace = service.Namespace
		if service.Status.URL != nil {
			facts.URL = service.Status.URL.String()
		}
		facts.CandidateURL, _ = a.candidateURL() // none is said where it is asked for
	}
	if revision := a.Observed.Revision; revision != nil {
		facts.Created = revision.CreationTimestamp.Time
	}
	return facts
}
