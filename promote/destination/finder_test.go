package destination

import (
	"testing"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// TestRollbackFurtherThanTheRecord refuses a rollback whose destination the record has
// no more.
func TestRollbackFurtherThanTheRecord(t *testing.T) {
	t.Parallel()
	target := plan.Target{Target: argo.Target{Source: argo.Source{RepoURL: "https://github.com/acme/infra.git", Branch: "main"}}, Overlay: "apps/web/overlays/production"}
	at := plan.Situation{Tag: "candidate", Target: target, Record: record.Record{
		Promotion: "x", Repository: "https://github.com/acme/infra.git", Branch: "main", Overlay: "apps/web/overlays/production", Step: record.Rollback, Percent: 100,
		To: record.Version{Revision: "web-1"}, From: record.Version{Revision: "web-2"}, Cut: true,
	}}
	_, err := Finder{At: at}.Previous(t.Context(), knative.Split{Stable: "web-1"})
	want := "what had the traffic before web-1 is longer ago than the record of apps/web/overlays/production goes, which has the last 1 promotions and rollbacks: name a revision or a commit to roll back to with the input to"
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}
