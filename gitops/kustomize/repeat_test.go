package kustomize

import "testing"

// TestRepeatPatch lists a patch behind all others, once, and takes each listing out again.
func TestRepeatPatch(t *testing.T) {
	t.Parallel()
	target := Target{Kind: "Service", Name: "web"}
	const own = "- path: own.yaml\n  target:\n    kind: Service\n    name: web\n"
	const first = "patches:\n" + own
	const before = first + "- path: later.yaml # theirs\n"
	for src, want := range map[string]string{before: before + own, first: first} {
		got, err := RepeatPatch([]byte(src), "own.yaml", target)
		if err != nil || string(got) != want {
			t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
		}
		if again, err := RepeatPatch(got, "own.yaml", target); err != nil || string(again) != want {
			t.Errorf("once more: %v\n%s", err, again)
		}
	}
	got, err := RemovePatch([]byte(before+own), "own.yaml")
	if err != nil || string(got) != "patches:\n- path: later.yaml # theirs\n" {
		t.Errorf("taken out: %v\n%s", err, got)
	}
	if _, err := RepeatPatch([]byte("{patches: []}\n"), "own.yaml", target); err == nil {
		t.Error("it edits a kustomization in flow style")
	}
}
