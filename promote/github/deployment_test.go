package github_test

import (
	"net/http"
	"testing"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/promote/github"
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
		id, said, err := client.Deploy(t.Context(), d)
		if err != nil || said != (github.DeploymentStatus{}) {
			t.Fatalf("%v, and a new deployment has the status %+v", err, said)
		}
		for _, state := range []string{"queued", "success"} {
			if err := client.SetDeploymentStatus(t.Context(), id, github.DeploymentStatus{State: state, Description: d.Commit}); err != nil {
				t.Fatal(err)
			}
		}
		ids[id] = d
	}
	for id, d := range ids {
		want := github.DeploymentStatus{State: "success", Description: d.Commit}
		d.Commit = "z"
		if again, said, err := client.Deploy(t.Context(), d); err != nil || again != id || said != want {
			t.Errorf("%+v is deployment %d at first, then %d of which %+v was said, error %v", d, id, again, said, err)
		}
	}
	if all := s.Infra.Deployments(); len(all) != 4 {
		t.Errorf("%d deployments, want 4", len(all))
	}
}

// TestDeployAfterAnother closes what the promotion before has left open, and that
// alone.
func TestDeployAfterAnother(t *testing.T) {
	t.Parallel()
	for last, want := range map[string]string{"": "inactive", "queued": "inactive", "in_progress": "inactive", "success": "success", "failure": "failure", "error": "error"} {
		s := &githubtest.Server{Infra: githubtest.Infra{Repository: "acme/shop", Token: token}}
		client := serve(t, s, "")
		deploy := func(d github.Deployment) int64 {
			t.Helper()
			id, _, err := client.Deploy(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		first := deploy(github.Deployment{Commit: "a", Environment: "web/staging", Promotion: "1"})
		if last != "" {
			if err := client.SetDeploymentStatus(t.Context(), first, github.DeploymentStatus{State: last}); err != nil {
				t.Fatal(err)
			}
		}
		deploy(github.Deployment{Commit: "b", Environment: "web/staging", Promotion: "2"})
		deploy(github.Deployment{Commit: "c", Environment: "web/staging", Promotion: "2", Restores: true})
		all := s.Infra.Deployments()
		if said := all[0].Statuses; len(said) == 0 || said[len(said)-1].State != want || len(said) > 2 {
			t.Errorf("after %q: %+v, want %s", last, said, want)
		}
		if said := all[1].Statuses; len(said) > 0 {
			t.Errorf("of its own promotion %+v was said", said)
		}
	}
}

func TestDeployErrors(t *testing.T) {
	t.Parallel()
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		githubtest.Refuse(w, http.StatusForbidden, "Resource not accessible by "+token)
	}), "")
	_, _, err := client.Deploy(t.Context(), github.Deployment{Commit: "a", Environment: "web/staging", Promotion: "1"})
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
