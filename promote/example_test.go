package promote

import (
	"os"
	"testing"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

const production = "apps/product-import/overlays/production"

func config(steps ...plan.Step) plan.Settings {
	return plan.Settings{Steps: steps, CandidateTag: "candidate", KeepPrevious: true}
}

// ours is what the tests plan for.
func ours() plan.Target {
	return plan.Target{Target: argo.Target{Service: "product-import"}, Environment: "production", Overlay: production}
}

// base is the example overlay as it is before any promotion.
func base(t *testing.T) *knative.State {
	t.Helper()
	state, err := knative.Read(t.Context(), os.DirFS("../testdata/infra"), production, "product-import")
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func setTag(t *testing.T, state *knative.State, tag string) *knative.State {
	t.Helper()
	next, err := state.SetImages(t.Context(), []kustomize.Image{{Name: "ghcr.io/acme/product-import", NewTag: tag}})
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func revisionOf(t *testing.T, state *knative.State) string {
	t.Helper()
	name, err := state.NextRevision()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func target(revision string, percent int64, tag string) servingv1.TrafficTarget {
	return servingv1.TrafficTarget{RevisionName: revision, Percent: &percent, Tag: tag, LatestRevision: new(false)}
}

// recordOf is the record of a step of a promotion.
func recordOf(step, from, to string) record.Record {
	return record.Record{
		Promotion: "00000000abcd", Overlay: production, Step: step, Percent: record.ShareOf(step), Base: "b0", From: record.Version{Revision: from}, To: record.Version{Revision: to},
	}
}
