package manifest

import (
	"regexp"
	"slices"
	"strings"
)

// Within tells whether each object that changes does so in one of the others too: the one object of
// its kind and name there, with the same fields or else with the same lines, where what is around them
// is the same too. Where that is not certain it is not so: of a secret nobody sees what it changes to.
func (d Difference) Within(others []Difference) bool {
	for _, object := range d {
		if !slices.ContainsFunc(others, func(other Difference) bool { return slices.ContainsFunc(other, object.within) }) {
			return false
		}
	}
	return true
}

// within tells whether another one is the same object, in its own namespace or, where it names none, in one that it is
// given, and changes in all that this one changes in.
func (o Object) within(other Object) bool {
	elsewhere := o.Name != o.Alone && o.Name != other.Name // it names another namespace
	if o.Alone == "" || o.Alone != other.Alone || o.Change != other.Change || o.hides() || elsewhere {
		return false
	}
	return o.told() && o.among(other) || slices.Equal(o.lines(), other.lines())
}

// hides tells whether a changed line has a secret.
func (o Object) hides() bool {
	return slices.ContainsFunc(o.lines(), func(line Line) bool { return line.Sign != Both && strings.Contains(line.Text, hiddenStart) })
}

// placed finds an item of a list that has no name in a path: in another list it may be another item.
var placed = regexp.MustCompile(`\[[0-9]+\]`)

// told tells whether the fields say all that changes of the object, whatever else is in it.
func (o Object) told() bool {
	return o.Change == Changed && o.MoreFields == 0 && !slices.ContainsFunc(o.Fields, func(f Field) bool {
		return placed.MatchString(f.Path) || strings.Contains(f.Path+f.Before+f.After, "…")
	})
}

// among tells whether the fields are some of another's.
func (o Object) among(other Object) bool {
	return !slices.ContainsFunc(o.Fields, func(f Field) bool { return !slices.Contains(other.Fields, f) })
}

// lines are those of the hunks, but for the namespace's: of another field of that name those that change stay, as of a subject.
func (o Object) lines() (lines []Line) {
	for _, h := range o.Hunks {
		top := ""
		for _, line := range h.Lines {
			if !strings.HasPrefix(line.Text, " ") && !strings.HasPrefix(line.Text, "-") {
				top = line.Text
			}
			if !strings.HasPrefix(line.Text, "  namespace: ") || line.Sign != Both && top != "metadata:" {
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
