package pipeline

import "slices"

// A Key is an input that the file may say, of an environment and of a Service there, or
// one that a guard of the file rests on.
type Key struct {
	Input    string
	Guard    bool     // what a run is given may be stricter than what the file says, and not less
	Of       []string // guards that rest on it: where the file says one of them it is a guard too, at its default if the file says no other value
	Unsaid   bool     // the file may not say it: guards rest on it, no more
	Default  string
	Stricter Stricter // what is stricter; the zero value: nothing is
}

// Keys are what a file may say and what its guards rest on, and what an input takes.
type Keys struct {
	All   []Key
	Check func(input, value string) error // nil: every value is good
}

// names are those of the keys for which a condition holds, in their order.
func (k Keys) names(of func(Key) bool) []string {
	var names []string
	for _, key := range k.All {
		if of(key) {
			names = append(names, key.Input)
		}
	}
	return names
}

// each are the names of all that may be said.
func (k Keys) each() []string { return k.names(func(key Key) bool { return !key.Unsaid }) }

// everywhere are the names of those that may be said of all environments at once.
func (k Keys) everywhere() []string {
	return k.names(func(key Key) bool { return !key.Unsaid && !OfSource(key.Input) })
}

// guards are the keys that are guards, or may be.
func (k Keys) guards() []Key {
	return slices.DeleteFunc(slices.Clone(k.All), func(key Key) bool { return !key.Guard && len(key.Of) == 0 })
}

// ofSource are the keys that are about the environment that from names.
var ofSource = []string{"from-branch", "soak", "checks", "on-config-drift", "wait-for-source"}

// OfSource tells whether an input is about the environment that images come from.
func OfSource(input string) bool { return input == "from" || slices.Contains(ofSource, input) }
