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
	layers := slices.Concat([]Settings{f.defaults}, slices.Collect(maps.Values(f.environments)))
	for _, of := range f.services {
		layers = slices.AppendSeq(layers, maps.Values(of))
	}
	var files []string
	for _, said := range layers {
		for _, line := range lines(said[input].Text) {
			if words := strings.Fields(line); len(words) > 0 {
				files = append(files, path.Clean(words[0]))
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
