package inputs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzSteps checks what every accepted list of steps promises, and that the
// list written out again means the same.
func FuzzSteps(f *testing.F) {
	for _, text := range []string{"100", "10@5m,50@5m,100", "1\n2 , 3", "10@300", "0", "101", "5,5", "+5", "5@-1s", "10@", "@5m", "९"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := parseSteps(text)
		if err != nil {
			if !strings.Contains(err.Error(), "expected") {
				t.Fatalf("%q: the error does not say what is expected: %v", text, err)
			}
			return
		}
		var written []string
		last := -1
		for _, step := range steps {
			if step.Percent <= last || step.Percent > 100 || step.Bake < 0 {
				t.Fatalf("%q: steps %+v", text, steps)
			}
			last = step.Percent
			word := fmt.Sprint(step.Percent)
			if step.Bake > 0 {
				word += "@" + step.Bake.String()
			}
			written = append(written, word)
		}
		again, err := parseSteps(strings.Join(written, ","))
		if diff := cmp.Diff(steps, again); diff != "" || err != nil {
			t.Fatalf("%q written as %q (-want +got):\n%s\nerror: %v", text, written, diff, err)
		}
	})
}

// TestKeepsSteps has which steps a run may be given where the file says others.
func TestKeepsSteps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		said         string
		keep, looser []string
	}{
		{"10@5m,50@5m,100", []string{"10@5m,50@5m,100", "10@5m\n50@300s\n100", "5,10@6m,30,50@5m,100@1m", "10@5m", "10@5m,50@5m", "5"},
			[]string{"100", "10@5m,100", "10@4m,50@5m,100", "10,50,100", "50@5m,100"}},
		{"10,50", []string{"10", "10,50@1h"}, []string{"10,50,100", "50"}},
		{"100@10m", []string{"50,100@10m", "50"}, []string{"100", "50,100"}},
	} {
		for text, want := range merged(test.keep, test.looser) {
			given, err := parseSteps(text)
			said, errSaid := parseSteps(test.said)
			if err != nil || errSaid != nil || keepsSteps(given, said) != want {
				t.Errorf("%s beside %s: %v, %v, keeps: %t", text, test.said, err, errSaid, !want)
			}
		}
	}
}

// merged are texts that keep something, and those that do not.
func merged(keep, looser []string) map[string]bool {
	all := map[string]bool{}
	for _, text := range keep {
		all[text] = true
	}
	for _, text := range looser {
		all[text] = false
	}
	return all
}
