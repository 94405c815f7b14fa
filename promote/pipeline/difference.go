package pipeline

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/acme/knative-promote/internal/strictyaml"
)

// Compare says in words what one file comes to and another does not, what guards promotions first. What is only written
// in another way, or stands in another place, is no change: what an environment has by the defaults is its own.
func Compare(before, after File) (removed, added []string) {
	return strictyaml.Compare(before.entries(), after.entries())
}

// entries are all that the file comes to.
func (f File) entries() []strictyaml.Entry {
	if len(f.Environments) == 0 {
		return nil
	}
	guards := []strictyaml.Entry{entryOf("path", f.path.Text), entryOf("environments", strings.Join(f.Environments, "\n"))}
	var others []strictyaml.Entry
	add := func(of string, said Settings) {
		for _, name := range slices.Sorted(maps.Keys(said)) {
			text := said[name].Text
			if name == "from" {
				text = strings.Join(Names(text), "\n") // with commas or one per line
			}
			if entry := entryOf(of+": "+name, text); f.isGuard(name) {
				guards = append(guards, entry)
			} else {
				others = append(others, entry)
			}
		}
	}
	for _, environment := range f.Environments {
		of := Settings{}
		maps.Copy(of, f.defaults)
		maps.Copy(of, f.environments[environment])
		add(environment, of)
	}
	for _, service := range slices.Sorted(maps.Keys(f.services)) {
		for _, environment := range f.Environments {
			add(service+": "+environment, f.services[service][environment])
		}
	}
	return append(guards, others...)
}

// isGuard tells whether a key is a guard, or about them.
func (f File) isGuard(name string) bool {
	return name == approval || name == override || slices.ContainsFunc(f.guards, func(key Key) bool { return key.Input == name })
}

// entryOf is a value that may have lines. One with commas is between quotes in the words, as it may
// be no list.
func entryOf(of, text string) strictyaml.Entry {
	all := lines(text)
	for i, line := range all {
		if strings.Contains(line, ", ") {
			all[i] = strconv.Quote(line)
		}
	}
	return strictyaml.Entry{Words: of + ": " + strings.Join(all, ", "), Exact: of + ": " + text}
}
