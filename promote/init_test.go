package promote

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/plan"
)

// meddled is a cluster in which everything is live at once, until a person
// pushes while a step bakes: Knative refuses what they changed under the name
// of the revision.
type meddled struct {
	*obedient
	push func() error
}

func (m *meddled) Check(ctx context.Context, in argo.Intent) (argo.Verdict, argo.Observed, error) {
	if err := m.push(); err != nil {
		return argo.Verdict{}, argo.Observed{}, err
	}
	verdict, seen, err := m.obedient.Check(ctx, in)
	if verdict.State == argo.Live {
		verdict = argo.Verdict{State: argo.Failed, Reason: "the Service was refused"}
	}
	return verdict, seen, err
}

// TestInitImageOfPersonStays has a person set the image of an init container
// in the middle of a promotion. It belongs to the template, so theirs wins.
func TestInitImageOfPersonStays(t *testing.T) {
	t.Parallel()
	const images = "resources: [service.yaml]\nimages:\n- name: web\n  newTag: v1\n- name: migrate\n  newTag: m1\n"
	bare, url := served(t, fstest.MapFS{
		"web/service.yaml": {Data: []byte("apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec:\n" +
			"  template:\n    spec:\n      initContainers:\n      - name: migrate\n        image: migrate\n      containers:\n      - image: web\n")},
		"web/kustomization.yaml": {Data: []byte(images)},
	})
	repo := repoAt(t, url)
	c := &meddled{obedient: &obedient{repo: repo, last: "web-00001"}, push: func() error {
		now, err := gittest.Git(bare, nil, "show", "main:web/kustomization.yaml")
		if err != nil || strings.Contains(now, "m2") {
			return err
		}
		return gittest.Commit(bare, "main", "Migrate with m2", fstest.MapFS{"web/kustomization.yaml": {Data: []byte(strings.Replace(now, "m1", "m2", 1) + "\n")}})
	}}
	results, err := Run(t.Context(),
		Config{
			Settings: plan.Settings{CandidateTag: "candidate", Steps: []plan.Step{{Percent: 10, Bake: time.Millisecond}, {Percent: 100}}},
			Targets:  []plan.Target{{Overlay: "web"}}, Images: []kustomize.Image{{Name: "web", NewTag: "v2"}}, Preflight: PreflightOff, OnFailure: RollBack, OnCancel: Hold, Gates: gate.Settings{Wait: time.Minute},
		},
		Systems{Branch: repo, Commits: repo, Cluster: c, Reporter: silent{}})
	result := results[0]
	now, readErr := gittest.Git(bare, nil, "show", "main:web/kustomization.yaml")
	if readErr != nil {
		t.Fatal(readErr)
	}
	if result.Status != event.Superseded || !strings.Contains(now, "newTag: m2") {
		t.Errorf("it ended %s, %v, with\n%s", result.Status, err, now)
	}
	if !strings.Contains(fmt.Sprint(result.Steps[1].Gates), "bake") {
		t.Errorf("the person came too early: %+v", result.Steps)
	}
}
