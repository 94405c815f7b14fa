package pipeline

import (
	"slices"
	"strconv"
	"strings"
	"time"
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

// Longer is a duration that is as long or longer.
func Longer() Stricter {
	return Stricter{func(given, said string) bool { return durationOf(given) >= durationOf(said) }, " or longer"}
}

// Higher is a number that is as high or higher.
func Higher() Stricter {
	return Stricter{func(given, said string) bool { return number(given) >= number(said) }, ""}
}

// More are further names in a list.
func More(words string) Stricter {
	return Stricter{func(given, said string) bool {
		have := Names(given)
		return !slices.ContainsFunc(Names(said), func(name string) bool { return !slices.Contains(have, name) })
	}, words}
}

// FurtherSteps are further steps between others, or longer ones.
func FurtherSteps() Stricter {
	return Stricter{func(given, said string) bool { return keepsSteps(stepsOf(given), stepsOf(said)) }, ", with further steps between them or longer ones"}
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

// keepsSteps tells whether steps, bake times by percentages, stop at each step of
// others that is not above their last one, and bake as long there.
func keepsSteps(given, said map[int]time.Duration) bool {
	last, most := 0, 0
	for percent := range given {
		last = max(last, percent)
	}
	for percent, bake := range said {
		most = max(most, percent)
		if long, stops := given[percent]; percent <= last && (!stops || long < bake) {
			return false
		}
	}
	return last <= most
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

func stepsOf(text string) map[int]time.Duration {
	steps := map[int]time.Duration{}
	for _, step := range Names(text) {
		percent, bake, _ := strings.Cut(step, "@")
		steps[number(percent)] = durationOf(bake)
	}
	return steps
}

// number and durationOf read what the inputs have taken: zero is what they would
// not take.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func durationOf(text string) time.Duration {
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	return time.Duration(number(text)) * time.Second
}
