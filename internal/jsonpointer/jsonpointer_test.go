package jsonpointer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/internal/jsonpointer"
)

func TestPointers(t *testing.T) {
	t.Parallel()
	for pointer, steps := range map[string][]string{
		"":                             nil,
		"/":                            {""},
		"/spec/containers/0":           {"spec", "containers", "0"},
		"/metadata/annotations/a.b~1c": {"metadata", "annotations", "a.b/c"},
		"/a~0b":                        {"a~b"},
		"/~01":                         {"~1"}, // and not a slash: RFC 6901, section 4
		"/~1~0/":                       {"/~", ""},
	} {
		if diff := cmp.Diff(steps, jsonpointer.Split(pointer)); diff != "" {
			t.Errorf("the steps of %q (-want +got):\n%s", pointer, diff)
		}
		var all []any
		for _, step := range steps {
			all = append(all, step)
		}
		if got := jsonpointer.Join(all...); got != pointer {
			t.Errorf("%q joined is %q, want %q", steps, got, pointer)
		}
	}
	if got, want := jsonpointer.Join("a", 3, "b/c"), "/a/3/b~1c"; got != want {
		t.Errorf("joined %q, want %q", got, want)
	}
	if got := jsonpointer.Split("spec/traffic"); got != nil {
		t.Errorf("a text without a slash at its beginning is %q, want no steps", got)
	}
}
