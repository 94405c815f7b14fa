package promote

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/knative"
)

// TestStepRecord has a record say what the promotion is made of and how far it came,
// whoever goes on with it.
func TestStepRecord(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	first, later, there := Code{"acme/web@1", at}, Code{"acme/web@2", at.Add(time.Hour)}, Code{"acme/web@0", at.Add(-time.Hour)}
	source := Source{Overlay: "apps/web/overlays/staging", Commit: someCommit, Revision: "web-5d1c2b0f"}
	for name, test := range map[string]struct {
		plan   Plan
		before Record
		step   string
		want   Record
	}{
		"first":                         {Plan{}, Record{}, "10", Record{Code: later, Reached: 10}},
		"gone on with":                  {Plan{}, Record{Promotion: "x", Code: first, Reached: 10}, "50", Record{Code: first, Reached: 50}},
		"begun for nothing known":       {Plan{}, Record{Promotion: "x"}, "50", Record{Code: later, Reached: 50}},
		"from":                          {Plan{source: source, code: there}, Record{}, "10", Record{Code: there, Reached: 10}},
		"from what does not say it":     {Plan{source: source}, Record{}, "10", Record{Reached: 10}},
		"from, gone on with without it": {Plan{}, Record{Promotion: "x", Source: source, Code: there, Reached: 10}, "50", Record{Code: there, Reached: 50}},
		"the same, not said":            {Plan{}, Record{Promotion: "x", Source: source, Reached: 10}, "50", Record{Reached: 50}},
		"restored":                      {Plan{}, Record{Promotion: "x", Code: first, Reached: 50}, stepRestore, Record{Code: first, Reached: 50}},
		"another one before":            {Plan{}, Record{Promotion: "y", Code: first, Reached: 50}, "candidate", Record{Code: later}},
	} {
		test.plan.ID = "x"
		got := stepRecord(Config{Code: later}, test.plan, test.step, test.before)
		if got.Code != test.want.Code || got.Reached != test.want.Reached {
			t.Errorf("%s: %+v, reached %d; want %+v, reached %d", name, got.Code, got.Reached, test.want.Code, test.want.Reached)
		}
	}
}

// TestEntry has what is known of a promotion go into the past with it.
func TestEntry(t *testing.T) {
	t.Parallel()
	r := someRecord()
	r.Gate, r.Unknown = "slo", "zone: eu\n"
	got := Record{Promotion: "x"}.follow(r)
	want := Entry{
		Ended: Superseded, Promotion: r.Promotion, Reached: 10, Passed: r.Passed, Gate: "slo", To: r.To, From: r.From, Base: r.Base,
		Started: r.Started, Run: r.Run, Actor: r.Actor, Code: r.Code, Unknown: "zone: eu\n",
	}
	if diff := cmp.Diff(want, got.Past[0]); diff != "" || !got.Cut {
		t.Errorf("the entry (-want +got), cut %t:\n%s", got.Cut, diff)
	}
}

// TestRollbackFurtherThanTheRecord refuses a rollback whose destination the record has
// no more.
func TestRollbackFurtherThanTheRecord(t *testing.T) {
	t.Parallel()
	p := &part{}
	p.Target = somePlace
	at := Situation{Target: somePlace, Record: Record{
		Promotion: "x", Repository: somePlace.Source.RepoURL, Branch: "main", Overlay: somePlace.Overlay, Step: stepRollback, Percent: 100,
		To: Version{Revision: "web-1"}, From: Version{Revision: "web-2"}, Cut: true,
	}}
	_, err := p.previous(t.Context(), at, knative.Split{Stable: "web-1"})
	want := "what had the traffic before web-1 is longer ago than the record of apps/web/overlays/production goes, which has the last 1 promotions and rollbacks: name a revision or a commit to roll back to with the input to"
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}
