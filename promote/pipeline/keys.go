package pipeline

import "slices"

// A Key is an input that the file may say, of an environment and of a Service there.
type Key struct {
	Input    string
	Guard    bool     // what a run is given may be stricter, and not less
	Stricter Stricter // what is stricter; the zero value: nothing is
}

// Keys are what a file may say, and what an input takes.
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

// each are the names of all keys.
func (k Keys) each() []string { return k.names(func(Key) bool { return true }) }

// everywhere are the names of those that may be said of all environments at once.
func (k Keys) everywhere() []string {
	return k.names(func(key Key) bool { return !OfSource(key.Input) })
}

// guards are the keys that are guards.
func (k Keys) guards() []Key {
	return slices.DeleteFunc(slices.Clone(k.All), func(key Key) bool { return !key.Guard })
}

// ofSource are the keys that are about the environment that from names.
var ofSource = []string{"from-branch", "soak", "checks", "on-config-drift", "wait-for-source"}

// OfSource tells whether an input is about the environment that images come from.
func OfSource(input string) bool { return input == "from" || slices.Contains(ofSource, input) }
