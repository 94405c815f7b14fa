package manifest

import (
	"slices"
	"strings"
)

// Within tells whether each object that changes does so in one of the others too: the one object of
// its kind and name there, with the same fields and the same lines, each as often. Where that is
// not certain it is not so: of a secret nobody sees what it changes to.
func (d Difference) Within(others []Difference) bool {
	for _, object := range d {
		if !slices.ContainsFunc(others, func(other Difference) bool { return slices.ContainsFunc(other, object.within) }) {
			return false
		}
	}
	return true
}

// within tells whether another one is the same object, in its own namespace or in one that it is
// given, and changes in all that this one changes in.
func (o Object) within(other Object) bool {
	if o.Alone == "" || o.Alone != other.Alone || o.Change != other.Change || o.MoreFields > 0 {
		return false
	}
	for _, field := range o.Fields {
		if !slices.Contains(other.Fields, field) {
			return false
		}
	}
	left := map[Line]int{}
	for _, line := range other.changed() {
		left[line]++
	}
	for _, line := range o.changed() {
		if left[line]--; left[line] < 0 || strings.Contains(line.Text, hiddenStart) {
			return false
		}
	}
	return true
}

// changed are the lines that are added and removed.
func (o Object) changed() (lines []Line) {
	for _, h := range o.Hunks {
		for _, line := range h.Lines {
			if line.Sign != Both {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// aloneIn tells of each kind and name whether the manifests have no more than one object with
// these, in whatever namespace. Another one could change in place of the one that is meant.
func aloneIn(manifests ...[]document) func(document) string {
	several := map[string]bool{}
	for _, documents := range manifests {
		seen := map[string]bool{}
		for _, d := range documents {
			several[d.bare] = several[d.bare] || seen[d.bare]
			seen[d.bare] = true
		}
	}
	return func(d document) string {
		if several[d.bare] {
			return ""
		}
		return d.bare
	}
}
