// Package jsonpointer writes and reads paths into JSON and YAML documents
// (https://www.rfc-editor.org/rfc/rfc6901), such as /metadata/annotations/a~1b.
package jsonpointer

import (
	"fmt"
	"strings"
)

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~0", "~", "~1", "/")
)

// Join is the pointer that leads through these steps, keys of mappings and
// numbers in lists.
func Join(steps ...any) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteString("/" + escape.Replace(fmt.Sprint(step)))
	}
	return b.String()
}

// Split is the steps of a pointer. The empty pointer, which is the whole
// document, has none; neither has a text that is no pointer.
func Split(pointer string) []string {
	rest, absolute := strings.CutPrefix(pointer, "/")
	if !absolute {
		return nil
	}
	steps := strings.Split(rest, "/")
	for i, step := range steps {
		steps[i] = unescape.Replace(step)
	}
	return steps
}
