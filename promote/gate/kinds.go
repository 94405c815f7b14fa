package gate

import (
	"slices"

	"github.com/acme/knative-promote/promote/setting"
)

// A Kind is all that the program knows of a gate: the table of inputs, the keys of
// knative-promote.yaml, the documents, and what the report shows follow from it.
type Kind struct {
	Name     string
	Passes   string // when it passes, for the documents
	Asked    string // when it is asked, for the documents
	Sends    string // the input with which it sends requests to the Service; empty: it sends none
	Measures bool   // it counts or compares: the report shows what also where it has passed

	Inputs func(*Settings) []setting.Row                         // of its own; nil: it has none
	Gate   func(s Settings, step Step, templates Templates) Gate // after a step; the zero Gate: it is not asked there
}

// Kinds are all gates, in the order in which they are asked. Those of one row are asked
// side by side: each takes the bake time.
func Kinds() [][]Kind {
	return [][]Kind{{liveKind()}, {warmUpKind()}, {probeKind()}, {compareKind()}, {bakeKind(), sloKind(), analysisKind()}}
}

// After are the gates of a step, in the order of their kinds. The templates are those
// that the settings name.
func (s Settings) After(step Step, templates Templates) [][]Gate {
	return s.after(Kinds(), step, templates)
}

func (s Settings) after(kinds [][]Kind, step Step, templates Templates) [][]Gate {
	rows := make([][]Gate, len(kinds))
	for i, row := range kinds {
		for _, kind := range row {
			rows[i] = append(rows[i], kind.gate(s, step, templates))
		}
		rows[i] = slices.DeleteFunc(rows[i], func(g Gate) bool { return g.Check == nil })
	}
	return rows
}

// gate is the kind's gate after a step, under its name.
func (k Kind) gate(s Settings, step Step, templates Templates) Gate {
	g := k.Gate(s, step, templates)
	g.Name, g.Measures = k.Name, k.Measures
	return g
}
