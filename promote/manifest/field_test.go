package manifest

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/internal/fake/golden"
)

func TestFields(t *testing.T) {
	t.Parallel()
	golden.Run(t, "testdata/fields/*.txtar", "fields", func(t *testing.T, parts map[string][]byte) string {
		difference := Compare(parts["before.yaml"], parts["after.yaml"])
		if text := everything(difference); planted.MatchString(text) {
			t.Errorf("a secret in:\n%s", text)
		}
		checkFields(t, difference)
		var b strings.Builder
		for _, o := range difference {
			fmt.Fprintf(&b, "%s %s\n", o.Change, o.Name)
			for _, f := range o.Fields {
				fmt.Fprintf(&b, "  %s\n    - %s\n    + %s\n", f.Path, f.Before, f.After)
			}
			if o.MoreFields > 0 {
				fmt.Fprintf(&b, "  and %d more\n", o.MoreFields)
			}
		}
		return b.String()
	})
}

// everything is all that a difference holds, and not only its String.
func everything(d Difference) string {
	return fmt.Sprintf("%+v", []Object(d))
}

// checkFields holds what fields promise whatever the manifests are.
func checkFields(t *testing.T, d Difference) {
	t.Helper()
	for _, o := range d {
		if len(o.Fields) > maxFields || o.MoreFields > 0 && len(o.Fields) < maxFields || o.Change != Changed && len(o.Fields) > 0 {
			t.Errorf("%s, %s: %d fields and %d more", o.Name, o.Change, len(o.Fields), o.MoreFields)
		}
		for _, f := range o.Fields {
			for text, limit := range map[string]int{f.Path: maxName, f.Before: maxValue, f.After: maxValue} {
				if len(text) > limit || Visible(text) != text || !utf8.ValidString(text) {
					t.Errorf("%s: field %+q: want one line of at most %d bytes", o.Name, f, limit)
				}
			}
			if f.Before == f.After && !strings.Contains(f.Before, "…") {
				t.Errorf("%s: field %+q does not change", o.Name, f)
			}
		}
	}
}

func TestFieldsHideLengths(t *testing.T) {
	t.Parallel()
	manifest := func(secret string) []byte {
		return fmt.Appendf(nil, "kind: A\nmetadata: {name: a}\nspec:\n  env:\n  - {name: TOKEN, value: %s}\n  - {name: ARGS, value: --v --password=%[1]s}\n", secret)
	}
	short, long := Compare(manifest("a"), manifest("b")), Compare(manifest("a"), manifest(strings.Repeat("b", 500)))
	if diff := cmp.Diff(short, long); diff != "" {
		t.Errorf("a short secret or a long one (-short +long):\n%s", diff)
	}
	want := []Field{
		{"spec.env[TOKEN].value", "<hidden>", "<hidden, changed>"},
		{"spec.env[ARGS].value", "--v --password=<hidden>", "--v --password=<hidden, changed>"},
	}
	if diff := cmp.Diff(want, short[0].Fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
