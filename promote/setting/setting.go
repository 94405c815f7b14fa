// Package setting is what a part of a promotion says of its own inputs: the rows of the
// table from which the action's inputs, the flags, the usage text and the keys of
// knative-promote.yaml follow. It is pure.
package setting

import (
	"flag"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/acme/knative-promote/promote/pipeline"
)

// A Row is one input.
type Row struct {
	Name     string                     // of the action's input and of the flag
	Usage    string                     // what it says and what it may be
	Default  string                     // taken when nothing is set
	Example  string                     // a good value, shown with every error
	Secret   bool                       // never a flag and never printed
	Parts    func(text string) []string // what of a Secret is to be hidden where it stands alone, besides its lines
	Address  bool                       // may hold a password where it is wrong
	With     string                     // the input without which it means nothing; empty: it stands alone
	Said     Said                       // whether knative-promote.yaml may say it
	Of       []string                   // guards that rest on it, so that it is a guard beside them, also where the file does not say it
	Stricter pipeline.Stricter          // of a guard: which values are stricter
	Value    Value                      // checks the text and keeps it
}

// Said is whether knative-promote.yaml may say an input, and what that is for a run. Each row
// says one; the zero value is none.
type Said int

// What the file may say.
const (
	Never Said = iota + 1 // it is the run's: its target, its credentials, what it shows
	Free                  // for runs that are given none
	Guard                 // what a run is given may be stricter, and not less
)

// A Value checks a text and keeps what it means. It knows how it is written in YAML.
type Value interface {
	flag.Value
	Kind() pipeline.Kind
}

type value[T any] struct {
	to    *T
	parse func(string) (T, error)
}

// Bind is a Value that keeps what parse makes of a text.
func Bind[T any](to *T, parse func(string) (T, error)) Value { return value[T]{to, parse} }

// Set parses the text. The error says what was expected.
func (v value[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err != nil {
		return err
	}
	*v.to = parsed
	return nil
}

// String is the present value for people.
func (v value[T]) String() string {
	if v.to == nil {
		return ""
	}
	return fmt.Sprint(*v.to)
}

// Kind is how it is written in YAML.
func (value[T]) Kind() pipeline.Kind {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Bool:
		return pipeline.Flag
	case reflect.Int:
		return pipeline.Number
	case reflect.Slice, reflect.Map:
		return pipeline.List
	}
	return pipeline.Text
}

// Count parses a whole number within bounds.
func Count(least, most int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("expected a whole number from %d to %d", least, most)
		}
		return n, nil
	}
}

// IsPath tells whether a text is a path, perhaps with a query, of a server that nobody
// names.
func IsPath(text string) bool {
	u, err := url.ParseRequestURI(text)
	return err == nil && u.Host == "" && strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") && !strings.Contains(text, "#")
}
