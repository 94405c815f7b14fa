package event

import (
	"cmp"
	"fmt"

	"github.com/acme/knative-promote/promote/manifest"
)

// A Drift is configuration that the source of a promotion has and the target has
// not. It is not promoted: images alone are.
type Drift struct {
	From    string              // the source's overlay
	Changes manifest.Difference // in the source since the last promotion from there, and not so here
	Missing []string            // ConfigMaps and Secrets that the source's template names, and the target neither renders nor names
}

// Words are what drifts, an element a line.
func (d Drift) Words() []string {
	var lines []string
	for _, o := range d.Changes {
		if o.Change != manifest.Changed {
			lines = append(lines, fmt.Sprintf("%s was %s", o.Name, o.Change))
		}
		for _, f := range o.Fields {
			lines = append(lines, fmt.Sprintf("%s: %s: %s → %s", o.Name, f.Path, cmp.Or(f.Before, "nothing"), cmp.Or(f.After, "nothing")))
		}
		if o.MoreFields > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d more", o.Name, o.MoreFields))
		}
	}
	for _, name := range d.Missing {
		lines = append(lines, name+" is named by its template, and neither rendered nor named here")
	}
	return lines
}
