package manifest

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A line of half a megabyte that somebody has merged must not hold a rollback back, which shows what
// it changes before it is made. Each took hours, as each of its names read all that is behind it.
func TestLongLinesEnd(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"rows": "a: ", "settings": "a=", "flags": "--a=b ", "quotes": `a "a 'a `, "addresses": "a://@", "PEM": "-----BEGIN A-----END ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line = strings.Repeat(line, 1<<19/len(line)) + "token: hunter2"
			diff := Compare(nil, []byte("kind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: |\n    "+line+"\n")).String()
			if !strings.Contains(diff, "+kind: ConfigMap\n") || strings.Contains(diff, "hunter2") {
				t.Errorf("the end shows as %q", diff[max(0, len(diff)-100):])
			}
		})
	}
}

// A token is in no manifest, whatever tokens a manifest of megabytes shows.
func TestMarksOfAManifestEnd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"hidden" + strings.Repeat("x", 4<<20) + "-":                 "hidden-",
		"hidden" + strings.Repeat("1", 4<<20) + "-":                 "hidden-",
		strings.Repeat("hidden3- hidden2- hidden- hidden5- ", 9999): "hidden4-",
	} {
		if mark := newVault([]byte("a"), []byte(text)).mark; mark != want {
			t.Errorf("%.40s: the mark is %.40s, want %s", text, mark, want)
		}
	}
}

// The path to each of a million fields that change is put together for those alone that are kept.
func TestLongPathsEnd(t *testing.T) {
	t.Parallel()
	list := func(value string) *yaml.Node {
		fields := &yaml.Node{Kind: yaml.SequenceNode}
		for range 1_000_000 {
			fields.Content = append(fields.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value})
		}
		name := &yaml.Node{Kind: yaml.ScalarNode, Value: strings.Repeat("n", 1<<20)}
		return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{name, fields}}
	}
	if found, more := newVault().fields(list("a"), list("b")); len(found) != maxFields || more != 1_000_000-maxFields {
		t.Errorf("%d fields and %d more", len(found), more)
	}
}

// What a field with a secret's name does not hide of an alias, another one does.
func TestAliasInSecretsOfBothKinds(t *testing.T) {
	t.Parallel()
	const text = "kind: A\nmetadata: {name: a}\nx: &t {a: hunter2}\npassword: *t\nenv: [{name: TOKEN, value: *t}]\n"
	if diff := Compare(nil, []byte(text)).String(); strings.Contains(diff, "hunter2") {
		t.Errorf("got\n%s", diff)
	}
}
