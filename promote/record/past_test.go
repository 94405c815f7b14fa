package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEntry has what is known of a promotion go into the past with it.
func TestEntry(t *testing.T) {
	t.Parallel()
	r := someRecord()
	r.Gate, r.Unknown = "slo", "zone: eu\n"
	got := Record{Promotion: "x"}.Follow(r)
	want := Entry{
		Ended: Superseded, Promotion: r.Promotion, Reached: 10, Passed: r.Passed, Gate: "slo", To: r.To, From: r.From, Base: r.Base, TakenFrom: r.Source.Overlay,
		Started: r.Started, Run: r.Run, Actor: r.Actor, Code: r.Code, Unknown: "zone: eu\n",
	}
	if diff := cmp.Diff(want, got.Past[0]); diff != "" || !got.Cut {
		t.Errorf("the entry (-want +got), cut %t:\n%s", got.Cut, diff)
	}
}
