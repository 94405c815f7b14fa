package pipeline

import (
	"maps"
	"slices"
	"strings"
)

// Compare says in words what one file says and another does not. What is only
// written in another way, or stands in another place, is no change.
func Compare(before, after File) (removed, added []string) {
	was, is := before.entries(), after.entries()
	without := func(all, others []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(entry string) bool { return slices.Contains(others, entry) })
	}
	return without(was, is), without(is, was)
}

// entries are all that the file says, each in words.
func (f File) entries() []string {
	if len(f.Environments) == 0 {
		return nil
	}
	all := []string{"path: " + f.path.Text, "environments: " + strings.Join(f.Environments, ", ")}
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

func (s Settings) entries(of string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		all = append(all, of+": "+name+": "+strings.Join(lines(s[name].Text), ", "))
	}
	return all
}
