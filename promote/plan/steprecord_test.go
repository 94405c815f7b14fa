package plan

import (
	"testing"
	"time"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/record"
)

// TestStepRecord has a record say what the promotion is made of and how far it came,
// whoever goes on with it.
func TestStepRecord(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	first, later, there := record.Code{Commit: "acme/web@1", At: at}, record.Code{Commit: "acme/web@2", At: at.Add(time.Hour)}, record.Code{Commit: "acme/web@0", At: at.Add(-time.Hour)}
	source := record.Source{Overlay: "apps/web/overlays/staging", Commit: "74e5219b3179dd83185b313e8da45aa39506eafd", Revision: "web-5d1c2b0f"}
	for name, test := range map[string]struct {
		plan   Plan
		before record.Record
		step   string
		want   record.Record
	}{
		"first":                         {Plan{}, record.Record{}, "10", record.Record{Code: later, Reached: 10}},
		"gone on with":                  {Plan{}, record.Record{Promotion: "x", Code: first, Reached: 10}, "50", record.Record{Code: first, Reached: 50}},
		"begun for nothing known":       {Plan{}, record.Record{Promotion: "x"}, "50", record.Record{Code: later, Reached: 50}},
		"from":                          {Plan{Source: source, Code: there}, record.Record{}, "10", record.Record{Code: there, Reached: 10}},
		"from what does not say it":     {Plan{Source: source}, record.Record{}, "10", record.Record{Reached: 10}},
		"from, gone on with without it": {Plan{}, record.Record{Promotion: "x", Source: source, Code: there, Reached: 10}, "50", record.Record{Code: there, Reached: 50}},
		"the same, not said":            {Plan{}, record.Record{Promotion: "x", Source: source, Reached: 10}, "50", record.Record{Reached: 50}},
		"restored":                      {Plan{}, record.Record{Promotion: "x", Code: first, Reached: 50}, record.Restore, record.Record{Code: first, Reached: 50}},
		"another one before":            {Plan{}, record.Record{Promotion: "y", Code: first, Reached: 50}, "candidate", record.Record{Code: later}},
	} {
		test.plan.ID, test.plan.Now = "x", &knative.State{}
		got := StepRecord(Settings{Code: later}, test.plan, test.step, test.before)
		if got.Code != test.want.Code || got.Reached != test.want.Reached {
			t.Errorf("%s: %+v, reached %d; want %+v, reached %d", name, got.Code, got.Reached, test.want.Code, test.want.Reached)
		}
	}
}
