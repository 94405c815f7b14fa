package pipeline

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A Looser is where what a run is given is less than what the file says.
type Looser struct {
	Input   string
	Given   string // empty: nothing
	Setting        // what would do; the line is that of Guard where the file does not say the input itself
	Guard   string // that rests on the input; empty: the input itself is the guard
	than    string // what is stricter, in words
}

// Looser lists what of the given values of inputs, by their names, is less than
// the guards say, in the guards' order. What is stricter can be told of some
// inputs alone; of the others only what the file says is good.
func (r Rules) Looser(given map[string]string) []Looser {
	var all []Looser
	for _, key := range r.guards {
		wants, guard, is := r.wants(key)
		if is && !key.keeps(given[key.Input], wants.Text) {
			all = append(all, Looser{key.Input, given[key.Input], wants, guard, key.Stricter.words})
		}
	}
	return all
}

// wants is what the file wants of an input, and the guard that rests on it where the file
// does not say it; is tells whether it wants anything.
func (r Rules) wants(key Key) (wants Setting, guard string, is bool) {
	said, isSaid := r.Settings[key.Input]
	if isSaid && key.Guard {
		return said, "", true
	}
	i := slices.IndexFunc(r.guards, func(of Key) bool {
		guard, is := r.Settings[of.Input]
		return is && guard.Text != "false" && slices.Contains(key.Of, of.Input) // what is switched off wants nothing
	})
	switch {
	case i < 0:
		return Setting{}, "", false
	case isSaid:
		return said, "", true
	}
	guard = r.guards[i].Input
	return Setting{key.Default, r.Settings[guard].Line}, guard, true
}

// keeps tells whether a given value is what the file says, or stricter.
func (k Key) keeps(given, said string) bool {
	return slices.Equal(lines(given), lines(said)) || given != "" && k.Stricter.is != nil && k.Stricter.is(given, said)
}

// Stricter is which values of an input are stricter than another one. With the zero value
// none are.
type Stricter struct {
	is    func(given, said string) bool
	words string // after the value that the file says
}

// The ways in which values of inputs are stricter.

// By is a way that is told of what the input's own parser makes of both values. What it refuses
// is not stricter.
func By[T any](parse func(string) (T, error), stricter func(given, said T) bool, words string) Stricter {
	return Stricter{func(given, said string) bool {
		have, errHave := parse(given)
		want, errWant := parse(said)
		return errHave == nil && errWant == nil && stricter(have, want)
	}, words}
}

// Longer is a duration that is as long or longer.
func Longer() Stricter {
	return By(time.ParseDuration, func(given, said time.Duration) bool { return given >= said }, " or longer")
}

// Higher is a number that is as high or higher.
func Higher() Stricter {
	return By(strconv.Atoi, func(given, said int) bool { return given >= said }, "")
}

// More are further names in a list.
func More(words string) Stricter {
	return Stricter{func(given, said string) bool {
		have := Names(given)
		return !slices.ContainsFunc(Names(said), func(name string) bool { return !slices.Contains(have, name) })
	}, words}
}

// Always are values that are never less than another one.
func Always(strictest ...string) Stricter {
	return Stricter{func(given, _ string) bool { return slices.Contains(strictest, strings.ToLower(given)) }, ""}
}

// Fewer are names of a list, and no others.
func Fewer() Stricter {
	return Stricter{func(given, said string) bool {
		may := Names(said)
		return !slices.ContainsFunc(Names(given), func(name string) bool { return !slices.Contains(may, name) })
	}, ", or fewer of them"}
}

// Expected says which values would do.
func (l Looser) Expected() string {
	text := strconv.Quote(strings.ReplaceAll(l.Text, "\n", ",")) + l.than
	if l.Text == "" {
		text = "none"
	}
	if l.Guard != "" {
		text += " beside " + l.Guard
	}
	return text
}

// lines are those of a text that are not blank, with single blanks.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// Words are those of a text, with commas, blanks or ends of rows between them.
func Words(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// Names are the names in a text, with commas or one per line. A comma in parentheses is part
// of a name, as in "build (linux, amd64)".
func Names(text string) []string {
	var names []string
	depth := 0
	separates := func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case '\n':
			depth = 0
		}
		return r == '\n' || r == ',' && depth == 0
	}
	for name := range strings.FieldsFuncSeq(text, separates) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
