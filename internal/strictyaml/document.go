// Package strictyaml reads small YAML files that people write and that nothing
// may be misread in: every key is a known one and there once, there is one
// document without aliases, and every error says in which line it is.
//
// The nodes of YAML are read one by one, because they know their lines, and
// because nothing then expands an alias.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/internal/oneline"
)

// An Error is why a file cannot be read.
type Error struct {
	Line int // from 1; 0: the whole file
	Err  error
}

// Error is the line and the cause.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Wrong is the Error of a node.
func Wrong(n *yaml.Node, format string, args ...any) error {
	return &Error{n.Line, fmt.Errorf(format, args...)}
}

// Document is the only document of a file with at most limit bytes; nil: there is
// nothing in it.
func Document(file []byte, limit int) (*yaml.Node, error) {
	if len(file) > limit {
		return nil, &Error{0, fmt.Errorf("it has %d bytes: expected %d at most", len(file), limit)}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(file))
	var root, more yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, notYAML(err)
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, Wrong(&more, "there is a second document: expected one")
	case !errors.Is(err, io.EOF):
		return nil, notYAML(err)
	}
	if content := root.Content[0]; content.Kind != yaml.ScalarNode || content.ShortTag() != "!!null" {
		return content, nil
	}
	return nil, nil
}

// notYAML is an error of the reader, which writes the line into its text.
func notYAML(err error) error {
	text := strings.TrimPrefix(oneline.Of(err.Error(), WordLimit), "yaml: ")
	var line int
	if _, failed := fmt.Sscanf(text, "line %d: ", &line); failed == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	return &Error{line, fmt.Errorf("expected YAML: %s", text)}
}
