package pipeline

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Looser is where what a run is given is less than what the file says.
type Looser struct {
	Input string
	Given string // empty: nothing
	Setting
}

// Looser lists what of the given values of inputs, by their names, is less than
// the guards say, in the guards' order. What is stricter can be told of some
// inputs alone; of the others only what the file says is good.
func (r Rules) Looser(given map[string]string) []Looser {
	var all []Looser
	for _, input := range guards {
		said, is := r.Settings[input]
		if is && !keeps(input, given[input], said.Text) {
			all = append(all, Looser{input, given[input], said})
		}
		if !is || input != "from" {
			continue
		}
		for _, other := range []string{"image", "from-branch"} { // which lead past it where the file does not say them
			if _, is := r.Settings[other]; !is && given[other] != "" {
				all = append(all, Looser{other, given[other], said})
			}
		}
	}
	return all
}

// strictest are the values of inputs that are never less than another one.
var strictest = map[string]string{"on-config-drift": "fail", "strict": "true", "pod-security": "restricted", "preflight": "error"}

// keeps tells whether a given value is what the file says, or stricter.
func keeps(input, given, said string) bool {
	switch {
	case given == "":
		return false
	case slices.Equal(lines(given), lines(said)), strictest[input] == strings.ToLower(given):
		return true
	}
	switch input {
	case "soak":
		return durationOf(given) >= durationOf(said)
	case "checks", "from":
		have := list(given)
		return !slices.ContainsFunc(list(said), func(name string) bool { return !slices.Contains(have, name) })
	case "probe-count":
		return number(given) >= number(said)
	case "steps":
		return keepsSteps(stepsOf(given), stepsOf(said))
	}
	return false
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
	said := strconv.Quote(strings.ReplaceAll(l.Text, "\n", ","))
	switch l.Input {
	case "image":
		return "none, as the images come from " + strings.Join(list(l.Text), " and ")
	case "from-branch":
		return "that of the pipeline file, or none"
	case "soak":
		return said + " or longer"
	case "checks":
		return said + ", and more besides"
	case "steps":
		return said + ", with further steps between them or longer ones"
	}
	return said
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

func list(text string) []string {
	var names []string
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func stepsOf(text string) map[int]time.Duration {
	steps := map[int]time.Duration{}
	for _, step := range list(text) {
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
