package report

import (
	"fmt"
	"strings"
	"testing"
)

// TestFileChangeSaysWhatIsLeftOut: a change among many, or behind what is the same, is not there without a word.
func TestFileChangeSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	const said = "Not all that changes is shown here"
	many := make([]string, maxEntries+1)
	for i := range many {
		many[i] = fmt.Sprintf("excluded: window %d", i)
	}
	for name, test := range map[string]struct {
		change FileChange
		want   bool
	}{
		"few":  {FileChange{File: "w.yaml", Removed: many[:maxEntries]}, false},
		"many": {FileChange{File: "w.yaml", Removed: many[:maxEntries], Added: many[maxEntries:]}, true},
		"long": {FileChange{File: "w.yaml", Removed: []string{strings.Repeat("service, ", 200)}}, true},
	} {
		text := fileChange(test.change, "the windows", "Nothing.")
		if got := strings.Contains(text, said); got != test.want {
			t.Errorf("%s: %t:\n%s", name, got, text)
		}
		if test.want && strings.Index(text, said) > strings.Index(text, "removed: ") {
			t.Errorf("%s: it stands behind the changes:\n%s", name, text)
		}
	}
}

// TestCutEntriesAreTold has an entry that is longer as it is shown.
func TestCutEntriesAreTold(t *testing.T) {
	t.Parallel()
	entry := strings.Repeat("\u115f", maxReason/6) + "; a run may override it"
	got := fileChange(FileChange{File: "windows.yaml", Added: []string{entry}}, "the windows", "nothing")
	if strings.Contains(got, "override") || !strings.Contains(got, "Not all that changes is shown here") {
		t.Errorf("got %s", got)
	}
}
