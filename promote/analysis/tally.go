package analysis

import (
	"fmt"

	"github.com/acme/knative-promote/promote/analysis/condition"
	"github.com/acme/knative-promote/promote/analysis/template"
)

// tally is what the measurements of a metric came to so far.
type tally struct {
	count                            int // of all but errors and those without data
	successful, failed, inconclusive int
	errors, noData                   int
	errorsInARow, successesInARow    int
	last                             condition.Phase
}

// add notes a measurement. Errors and missing data do not count towards the count.
func (t *tally) add(phase condition.Phase) {
	t.last = phase
	if phase != condition.Error {
		t.errorsInARow = 0
	}
	if phase != condition.Successful {
		t.successesInARow = 0
	}
	switch phase {
	case condition.Successful:
		t.successful++
		t.successesInARow++
		t.count++
	case condition.Failed:
		t.failed++
		t.count++
	case condition.Inconclusive:
		t.inconclusive++
		t.count++
	case condition.Error:
		t.errors++
		t.errorsInARow++
	case condition.NoData:
		t.noData++
	}
}

// assess is what Argo Rollouts says of a metric after its last measurement, with
// the reason in words; empty while it goes on:
// https://github.com/argoproj/argo-rollouts/blob/v1.8.5/analysis/analysis.go, assessMetricStatus.
func (t tally) assess(m template.Metric) (condition.Phase, string) {
	switch {
	case t.errorsInARow > m.ConsecutiveErrorLimit:
		return condition.Error, fmt.Sprintf("%s in a row could not be made, consecutiveErrorLimit is %d", measurements(t.errorsInARow), m.ConsecutiveErrorLimit)
	case t.inconclusive > m.InconclusiveLimit:
		return condition.Inconclusive, fmt.Sprintf("%d of %s %s inconclusive, inconclusiveLimit is %d", t.inconclusive, measurements(t.count), was(t.inconclusive), m.InconclusiveLimit)
	case m.FailureLimit >= 0 && t.failed > m.FailureLimit:
		return condition.Failed, fmt.Sprintf("%d of %s failed, failureLimit is %d", t.failed, measurements(t.count), m.FailureLimit)
	case m.ConsecutiveSuccessLimit > 0 && t.successesInARow >= m.ConsecutiveSuccessLimit:
		return condition.Successful, fmt.Sprintf("%s in a row %s successful", measurements(t.successesInARow), was(t.successesInARow))
	case m.Endless() || t.count < m.Count:
		return "", ""
	case m.ConsecutiveSuccessLimit > 0 && m.FailureLimit >= 0:
		return condition.Inconclusive, fmt.Sprintf("no %s in a row %s successful, and no more than %d failed", measurements(m.ConsecutiveSuccessLimit), was(m.ConsecutiveSuccessLimit), m.FailureLimit)
	case m.ConsecutiveSuccessLimit > 0:
		return condition.Failed, fmt.Sprintf("no %d of %s in a row %s successful", m.ConsecutiveSuccessLimit, measurements(t.count), was(m.ConsecutiveSuccessLimit))
	}
	return condition.Successful, t.passed()
}

// judge is what we say of it. over tells that the time of an endless metric is.
func (t tally) judge(m template.Metric, over bool) (condition.Phase, string) {
	phase, reason := t.assess(m)
	if phase == "" && over {
		phase, reason = condition.Successful, t.passed()
	}
	if phase == condition.Successful && t.successful == 0 {
		phase, reason = condition.Inconclusive, fmt.Sprintf("none of %s was successful", measurements(t.count))
		if t.failed > 0 {
			phase = condition.Failed
		}
	}
	return phase, reason
}

func (t tally) passed() string {
	return fmt.Sprintf("%d of %s %s successful", t.successful, measurements(t.count), was(t.successful))
}

func measurements(count int) string {
	if count == 1 {
		return "1 measurement"
	}
	return fmt.Sprintf("%d measurements", count)
}

func was(count int) string {
	if count == 1 {
		return "was"
	}
	return "were"
}
