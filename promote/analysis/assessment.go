package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/acme/knative-promote/promote/analysis/condition"
)

// Skipped is the phase of a metric that was not measured to its end. It says
// nothing of the candidate.
const Skipped condition.Phase = "Skipped"

// Assessment is what a run came to.
type Assessment struct {
	Phase   condition.Phase // the worst of the metrics that are no dry run
	Reason  string          // in words
	Metrics []Measured
}

// Measured is what one metric came to.
type Measured struct {
	Name   string
	Phase  condition.Phase
	Reason string // in words
	DryRun bool
	// Rollouts is what Argo Rollouts would say, if the answers stayed as they are.
	Rollouts condition.Phase
	// Measurements are the last ones, as many as the template retains.
	Measurements []Measurement
}

// Measurement is one answer.
type Measurement struct {
	At       time.Time // its end
	Phase    condition.Phase
	Value    string // the result, if there is one; long ones are cut
	Reason   string // why it is no success, unless the value says it
	Rollouts condition.Phase
}

// Words are the metric in a sentence.
func (m Measured) Words() string {
	text := fmt.Sprintf("%s is %s: %s", m.Name, m.Phase, m.Reason)
	if m.DryRun {
		text = "in a dry run, " + text
	}
	if n := len(m.Measurements); n > 0 {
		text += m.Measurements[n-1].words()
	}
	if m.Rollouts != m.Phase {
		text += "; Argo Rollouts would say " + string(m.Rollouts)
	}
	return text
}

func (m Measurement) words() string {
	if m.Reason != "" && (m.Phase != condition.Successful || m.Value == "") {
		return fmt.Sprintf(", the last because %s", m.Reason)
	}
	return fmt.Sprintf(", the last with %s", m.Value)
}

// ranks order the phases from good to bad, as Argo Rollouts does.
func rank(phase condition.Phase) int {
	switch phase {
	case condition.Failed:
		return 3
	case condition.Error:
		return 2
	case condition.Successful, Skipped:
		return 0
	}
	return 1
}

// assess puts the metrics together.
func assess(metrics []Measured) Assessment {
	a := Assessment{Phase: condition.Successful, Metrics: metrics}
	var good []string
	for _, m := range metrics {
		switch {
		case m.DryRun:
		case rank(m.Phase) > rank(a.Phase):
			a.Phase, a.Reason = m.Phase, m.Words()
		case m.Phase == condition.Successful:
			good = append(good, m.Name+": "+m.Reason)
		}
	}
	if a.Phase == condition.Successful {
		a.Reason = strings.Join(good, "; ")
	}
	return a
}
