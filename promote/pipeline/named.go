package pipeline

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Files are the files of the infra repository that an input names in the file, for any
// environment and Service: the first word of each line.
func (f File) Files(input string) []string {
	var files []string
	for _, text := range f.texts(input) {
		for _, line := range lines(text) {
			files = append(files, path.Clean(strings.Fields(line)[0]))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// Patterns are those of files that an input has in the file, for any environment and Service.
func (f File) Patterns(input string) []string {
	var patterns []string
	for _, text := range f.texts(input) {
		for pattern := range Words(text) {
			patterns = append(patterns, path.Clean(pattern))
		}
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}

// texts are what the file says of an input, for any environment and Service.
func (f File) texts(input string) (all []string) {
	layers := slices.Concat([]Settings{f.defaults}, slices.Collect(maps.Values(f.environments)))
	for _, of := range f.services {
		layers = slices.AppendSeq(layers, maps.Values(of))
	}
	for _, said := range layers {
		all = append(all, said[input].Text)
	}
	return all
}
