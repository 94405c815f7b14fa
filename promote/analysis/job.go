package analysis

import (
	"context"

	"github.com/acme/knative-promote/promote/analysis/condition"
	"github.com/acme/knative-promote/promote/analysis/template"
)

// Job is the source of metrics with a job. Nobody here may create one in the
// cluster, so what runs is a CronJob of the overlay, as that has it.
type Job struct {
	// Run starts a Job of a CronJob and waits for its end.
	Run func(ctx context.Context, cronJob string) (JobEnd, error)
}

// A JobEnd is how a Job ended.
type JobEnd struct {
	Name      string
	Succeeded bool
	Unknown   bool   // nobody can tell whether it has: it still runs, or is gone
	Reason    string // why it has not succeeded
}

// Measure runs the metric's Job: its end is the result, no condition is asked. One
// that still runs is not started again beside it.
func (j Job) Measure(ctx context.Context, metric template.Metric) (Answer, error) {
	end, err := j.Run(ctx, metric.CronJob())
	switch {
	case err != nil:
		return Answer{}, err
	case end.Unknown:
		return Answer{Phase: condition.Error, Final: true, Note: "Job " + end.Name + ": " + end.Reason}, nil
	case end.Succeeded:
		return Answer{Phase: condition.Successful, Note: "Job " + end.Name + " succeeded"}, nil
	}
	return Answer{Phase: condition.Failed, Note: "Job " + end.Name + " failed: " + end.Reason}, nil
}
