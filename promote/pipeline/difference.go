package pipeline

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/acme/knative-promote/internal/strictyaml"
)

// Compare says in words what one file says and another does not. What is only
// written in another way, or stands in another place, is no change.
func Compare(before, after File) (removed, added []string) {
	return strictyaml.Compare(before.entries(), after.entries())
}

// entries are all that the file says.
func (f File) entries() []strictyaml.Entry {
	if len(f.Environments) == 0 {
		return nil
	}
	all := []strictyaml.Entry{entryOf("path", f.path.Text), entryOf("environments", strings.Join(f.Environments, "\n"))}
	all = append(all, f.defaults.entries("defaults")...)
	for _, environment := range f.Environments {
		all = append(all, f.environments[environment].entries(environment)...)
	}
	for _, service := range slices.Sorted(maps.Keys(f.services)) {
		for _, environment := range f.Environments {
			all = append(all, f.services[service][environment].entries(service+": "+environment)...)
		}
	}
	return all
}

func (s Settings) entries(of string) []strictyaml.Entry {
	var all []strictyaml.Entry
	for _, name := range slices.Sorted(maps.Keys(s)) {
		text := s[name].Text
		if name == "from" {
			text = strings.Join(Names(text), "\n") // with commas or one per line
		}
		all = append(all, entryOf(of+": "+name, text))
	}
	return all
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
