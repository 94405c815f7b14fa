package promotetest

import (
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote/record"
)

// TestRecordFollows has a second promotion's record, with the past that the first one leaves and with another one.
func TestRecordFollows(t *testing.T) {
	t.Parallel()
	recorded := func(r record.Record) string {
		text, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return "# Written by knative-promote. Edits are overwritten by the next promotion.\n# " +
			strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n# ") + "\n" + strings.TrimPrefix(owned(at10), "# step: one\n") + "  template: {metadata: {name: s-2}}\n"
	}
	to := record.Version{Revision: "s-2", Images: []string{"a:v2"}}
	one := record.Record{Promotion: "000000000001", Overlay: "o", Step: "10", Percent: 10, Reached: 10, To: to, From: record.Version{Revision: "s-1"}}
	two := record.Record{Promotion: "000000000002", Overlay: "o", Step: "10", Percent: 10, Reached: 10, To: to, From: record.Version{Revision: "s-1"}}
	for name, next := range map[string]record.Record{"": two.Follow(one), "its record tells otherwise of what came before": two} {
		begun := first(with(ownFile, recorded(one)))
		then := step{trailers: strings.Replace(trailers("10"), "id1", "id2", 1), files: map[string]string{ownFile: recorded(next)}}
		_, err := history(begun, then).Check(t.Context())
		if name == "" && err != nil || name != "" && (err == nil || !strings.Contains(err.Error(), name)) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}
