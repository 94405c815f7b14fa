package pipeline

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Files are the files of the infra repository that an input names in the file, for any
// environment and Service: the first word of each line.
func (f File) Files(input string) (files []string) {
	for _, said := range f.Said(input) {
		files = append(files, said.Files()...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// Patterns are those of files that an input has in the file, for any environment and Service.
func (f File) Patterns(input string) (patterns []string) {
	for _, said := range f.Said(input) {
		patterns = append(patterns, said.Patterns()...)
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}

// Said is all that the file says of an input, for any environment and Service, in the order of its lines.
func (f File) Said(input string) (all []Setting) {
	layers := slices.Concat([]Settings{f.defaults}, slices.Collect(maps.Values(f.environments)))
	for _, of := range f.services {
		layers = slices.AppendSeq(layers, maps.Values(of))
	}
	for _, said := range layers {
		if said[input].Text != "" {
			all = append(all, said[input])
		}
	}
	slices.SortFunc(all, func(a, b Setting) int { return a.Line - b.Line })
	return all
}

// Files are the first words of the lines.
func (s Setting) Files() (files []string) {
	for _, line := range lines(s.Text) {
		files = append(files, path.Clean(strings.Fields(line)[0]))
	}
	return files
}

// Patterns are the words.
func (s Setting) Patterns() (patterns []string) {
	for pattern := range Words(s.Text) {
		patterns = append(patterns, path.Clean(pattern))
	}
	return patterns
}
