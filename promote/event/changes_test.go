package event

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/manifest"
)

func TestResultTellsWhatChanges(t *testing.T) {
	t.Parallel()
	const before = "kind: Service\nmetadata: {name: shop}\nimage: a\nenv: [{name: TOKEN, value: SECRETa}]\n"
	const after = "kind: Service\nmetadata: {name: shop}\nimage: b\nenv: [{name: TOKEN, value: SECRETb}]\n---\nkind: ConfigMap\nmetadata: {name: new}\n"
	got := changesIn(t, Result{Difference: manifest.Compare([]byte(before), []byte(after))})
	want := reported{Changes: []change{
		{"Service shop", manifest.Changed, []manifest.Field{{Path: "image", Before: "a", After: "b"}, {Path: "env[TOKEN].value", Before: "<hidden>", After: "<hidden, changed>"}}, 0},
		{"ConfigMap new", manifest.Added, []manifest.Field{}, 0},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if got := changesIn(t, Result{}); got.Changes != nil {
		t.Errorf("a run that changes nothing: %+v", got)
	}
}

// TestResultHasABound has objects whose fields are long, then short ones.
func TestResultHasABound(t *testing.T) {
	t.Parallel()
	var difference manifest.Difference
	long := manifest.Field{Path: strings.Repeat("p", 240), Before: strings.Repeat("<", 200), After: strings.Repeat("&", 200)}
	for i := range 3000 {
		o := manifest.Object{Name: fmt.Sprint("ConfigMap ", i), Change: manifest.Changed, Fields: []manifest.Field{{Path: "a", Before: "1", After: "2"}}}
		if i < 10 {
			o.Fields, o.MoreFields = []manifest.Field{long, long, long, long, long, long, long, long, long, long}, 5
		}
		difference = append(difference, o)
	}
	text, err := json.Marshal(Result{Difference: difference})
	if err != nil || len(text) > maxChanges+4000 {
		t.Errorf("%d bytes, error %v; want %d for the changes at most", len(text), err, maxChanges)
	}
	got := changesIn(t, Result{Difference: difference})
	if len(got.Changes) < 100 || len(got.Changes)+got.More != len(difference) {
		t.Fatalf("%d objects and %d more, of %d", len(got.Changes), got.More, len(difference))
	}
	whole, bare := got.Changes[0], got.Changes[9]
	if len(whole.Fields) != 10 || whole.MoreFields != 5 || len(bare.Fields) != 0 || bare.MoreFields != 15 || len(got.Changes[10].Fields) != 1 {
		t.Errorf("fields: %d and %d more of the first object, %d and %d more of one without room, %d of a small one",
			len(whole.Fields), whole.MoreFields, len(bare.Fields), bare.MoreFields, len(got.Changes[10].Fields))
	}
}

// reported is what the JSON of a Result says of changes.
type reported struct {
	Changes []change
	More    int `json:"more-changes"`
}

func changesIn(t *testing.T, r Result) reported {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got reported
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	return got
}
