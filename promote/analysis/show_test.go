package analysis

import "testing"

// TestShowEscapesNothing keeps a secret recognisable that an answer repeats.
func TestShowEscapesNothing(t *testing.T) {
	t.Parallel()
	if got, want := show(map[string]any{"token": "a&b<c>"}), `{ "token": "a&b<c>" }`; got != want {
		t.Errorf("shown as %s, want %s", got, want)
	}
}
