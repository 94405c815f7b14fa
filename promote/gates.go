package promote

import (
	"context"

	"github.com/acme/knative-promote/argo"
)

// A Gate must pass after every change before the next one is published. It
// passes with a nil error only; the reason says in words what was seen.
type Gate struct {
	Name  string
	Check func(ctx context.Context, at *Position) (reason string, err error)
}

// Position is where a gate is asked: after which commit, and what the gates
// before have seen.
type Position struct {
	Step     Change
	Commit   string
	Intent   argo.Intent
	Observed argo.Observed // filled in by the gate `live`

	promotion string // id in the record
}

// gates are the gates after a step, in order.
func (p *Promotion) gates(step Change) []Gate {
	gates := []Gate{{Name: "live", Check: p.isLive}}
	if p.Probe.Path != "" {
		gates = append(gates, Gate{Name: "probe", Check: p.answers})
	}
	if step.Bake > 0 {
		gates = append(gates, Gate{Name: "bake", Check: p.staysGood})
	}
	return gates
}
