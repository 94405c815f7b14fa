package gate

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/acme/knative-promote/promote/analysis/template"
)

// wrongCronJobs says which metrics with a job have no CronJob in the overlay that
// could be started for them, and whose Jobs would be theirs.
func wrongCronJobs(metrics []template.Metric, rendered []unstructured.Unstructured) []error {
	var wrong []error
	for _, m := range metrics {
		if err := wrongCronJob(m.CronJob(), rendered); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: provider.job: %w", m.At, err))
		}
	}
	return wrong
}

func wrongCronJob(name string, rendered []unstructured.Unstructured) error {
	var found []unstructured.Unstructured
	for _, o := range rendered {
		if o.GroupVersionKind().Group == batchv1.GroupName && o.GetKind() == "CronJob" && o.GetName() == name {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return fmt.Errorf("the overlay renders no CronJob %s, and no other Job can be started without access to the cluster: "+
			"expected a suspended CronJob with that name which does what the Job is to do, or a name in provider.job.metadata.name", name)
	case 1:
		return unfit(found[0])
	}
	return fmt.Errorf("the overlay renders %d CronJobs %s, in several namespaces: expected one", len(found), name)
}

// unfit says what keeps a CronJob from being started for an analysis alone, and
// its Jobs from being seen to have ended.
func unfit(object unstructured.Unstructured) error {
	var cron batchv1.CronJob
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &cron); err != nil {
		return fmt.Errorf("CronJob %s: %w", object.GetName(), err)
	}
	if suspend := cron.Spec.Suspend; suspend == nil || !*suspend {
		return fmt.Errorf("CronJob %s is not suspended, so it also runs by its schedule, and one of those Jobs could be taken for the analysis's: expected spec.suspend: true", cron.Name)
	}
	for _, keeps := range []struct {
		field string
		value *int32
		least int32
	}{
		{"successfulJobsHistoryLimit", cron.Spec.SuccessfulJobsHistoryLimit, 1},
		{"failedJobsHistoryLimit", cron.Spec.FailedJobsHistoryLimit, 1},
		{"jobTemplate.spec.ttlSecondsAfterFinished", cron.Spec.JobTemplate.Spec.TTLSecondsAfterFinished, leastTTL},
	} {
		if keeps.value != nil && *keeps.value < keeps.least {
			return fmt.Errorf("CronJob %s: spec.%s is %d, so a Job may be deleted before its end is read: expected %d or more, or to leave it out",
				cron.Name, keeps.field, *keeps.value, keeps.least)
		}
	}
	return nil
}

// leastTTL is for how long an ended Job must stay, in seconds: Argo CD may not
// answer for a while.
const leastTTL = 60

// CronJobs are the names of those that the analysis starts, sorted.
func (t Templates) CronJobs() []string {
	var names []string
	for _, m := range t.jobs {
		names = append(names, m.CronJob())
	}
	slices.Sort(names)
	return slices.Compact(names)
}
