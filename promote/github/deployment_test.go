package github_test

import (
	"net/http"
	"testing"

	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/github/githubtest"
)

// TestDeploy finds a promotion's deployment again, and no other one.
func TestDeploy(t *testing.T) {
	t.Parallel()
	s := &githubtest.Server{Infra: githubtest.Infra{Repository: "acme/shop", Token: token}}
	client := serve(t, s, "")
	ids := map[int64]github.Deployment{}
	for _, d := range []github.Deployment{
		{Commit: "a", Environment: "web/staging", Promotion: "1"}, {Commit: "b", Environment: "web/staging", Promotion: "1", Restores: true},
		{Commit: "c", Environment: "web/staging", Promotion: "2"}, {Commit: "c", Environment: "web/production", Promotion: "2"},
	} {
		id, err := client.Deploy(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		ids[id] = d
	}
	for id, d := range ids {
		d.Commit = "z"
		if again, err := client.Deploy(t.Context(), d); err != nil || again != id {
			t.Errorf("%+v is deployment %d at first, then %d, error %v", d, id, again, err)
		}
	}
	if all := s.Infra.Deployments(); len(all) != 4 {
		t.Errorf("%d deployments, want 4", len(all))
	}
}

func TestDeployErrors(t *testing.T) {
	t.Parallel()
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		githubtest.Refuse(w, http.StatusForbidden, "Resource not accessible by "+token)
	}), "")
	_, err := client.Deploy(t.Context(), github.Deployment{Commit: "a", Environment: "web/staging", Promotion: "1"})
	want := "reading the deployments of acme/shop: GitHub answered 403 Forbidden: Resource not accessible by ***; the token needs the permission deployments: write"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	err = client.SetDeploymentStatus(t.Context(), 7, github.DeploymentStatus{State: "queued"})
	want = "setting the status of deployment 7 of acme/shop: GitHub answered 403 Forbidden: Resource not accessible by ***; the token needs the permission deployments: write"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
