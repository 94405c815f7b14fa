package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing/fstest"
)

// onlyComments tells whether a commit that says that gates have passed changed
// anything but comment lines of the overlay's own file.
func (w *world) onlyComments(before, c record) error {
	own := path.Join(w.path, "knative-promote-"+w.service+".yaml")
	if changed := changedFiles(before.files, c.files); !slices.Equal(changed, []string{own}) {
		return fmt.Errorf("commit %.10s (%s) changes %v", c.hash, c.subject, changed)
	}
	if was, is := withoutComments(before.files[own]), withoutComments(c.files[own]); was != is {
		return fmt.Errorf("commit %.10s (%s) changes more than comments:\n%s\nto\n%s", c.hash, c.subject, was, is)
	}
	return nil
}

func withoutComments(file *fstest.MapFile) string {
	var rest strings.Builder
	for line := range strings.Lines(string(file.Data)) {
		if !strings.HasPrefix(line, "#") {
			rest.WriteString(line)
		}
	}
	return rest.String()
}
