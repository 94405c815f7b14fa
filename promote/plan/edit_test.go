package plan

import (
	"errors"
	"strings"
	"testing"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/fake/promotetest"
	"github.com/acme/knative-promote/promote/record"
)

// TestImagesBesideARecord has a tip whose record, revision and traffic are those of the candidate, and
// whose image is the old one, as where Git has merged the tag into another place. No run leaves
// that; where the image is the new one, one is ahead.
func TestImagesBesideARecord(t *testing.T) {
	t.Parallel()
	now := route(t, promotetest.Example(t), target("product-import-00001", 100, ""))
	next := promotetest.SetTag(t, now, "v2.0.0")
	c := config(Step{Percent: 50}, Step{Percent: 100})
	plan, err := New(c, Situation{Target: ours(), Tag: "candidate", Now: now, Next: next})
	if err != nil {
		t.Fatal(err)
	}
	there := StepRecord(c, plan, record.StepOf(plan.Steps[1].Percent), record.Record{})
	for tag, want := range map[string]string{
		"v1.0.0": "the overlay now has the images ghcr.io/acme/product-import:v1.0.0, and the record of this promotion beside them",
		"v2.0.0": "another run of the same promotion is ahead, with 50 % ",
	} {
		tip, err := promotetest.SetTag(t, now, tag).Route(t.Context(), plan.To, plan.Steps[1].Traffic, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = fits(tip, promotetest.SetTag(t, tip, "v2.0.0"), there, plan, 0, gitops.Commit{Hash: "tip"})
		if !errors.Is(err, ErrSuperseded) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", tag, err, want)
		}
	}
}
