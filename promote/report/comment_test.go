package report

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
)

func TestComment(t *testing.T) {
	t.Parallel()
	golden.Run(t, "testdata/comment/*.txtar", "comment.md", func(t *testing.T, parts map[string][]byte) string {
		r, at := result(t, parts)
		comment := Comment(r, at)
		if !strings.HasPrefix(comment, Marker(r, at)+"\n") {
			t.Errorf("comment does not start with its marker: %.80q", comment)
		}
		checkPage(t, comment, CommentLimit)
		checkPage(t, Summary(r, at, summaryRoom), summaryRoom)
		return comment
	})
}

func result(t *testing.T, parts map[string][]byte) (event.Result, Place) {
	t.Helper()
	var r event.Result
	var of struct{ Service, Environment, Overlay, Application string }
	if err := errors.Join(json.Unmarshal(parts["result.json"], &r), json.Unmarshal(parts["result.json"], &of)); err != nil {
		t.Fatal(err)
	}
	r.Target = target(of.Service, of.Environment, of.Overlay, of.Application)
	r.Difference = manifest.Compare(parts["before.yaml"], parts["after.yaml"])
	return r, Place{
		CommitURL: "https://github.com/acme/infra/commit/",
		RollbackTo: func(revision string) string {
			return "knative-promote rollback --repository acme/infra --path " + r.Overlay + " --to " + revision
		},
		RollbackNeeds: []string{"INPUT_TOKEN", "INPUT_ARGOCD_TOKEN"},
	}
}

// target is one with these names.
func target(service, environment, overlay, app string) event.Target {
	return event.Target{Service: service, Environment: environment, Overlay: overlay, Application: app}
}

func TestMarker(t *testing.T) {
	t.Parallel()
	const infra = "https://github.com/acme/infra.git main"
	seen := map[string]bool{}
	for _, c := range []struct {
		infra  string
		target event.Target
	}{
		{"", target("a", "b", "apps/a/overlays/b", "")},
		{"", target("a/b", "", "apps", "")},
		{"", target("a", "b/", "apps", "")},
		{"", target("a", "b", "/apps", "")},
		{"", target("a", "b", "apps", "")},
		{"", target("b", "a", "apps", "")},
		{infra, target("a", "", "", "")},
		{"https://github.com/acme/infra.git next", target("a", "", "", "")},
		{"https://github.com/acme/other.git main", target("a", "", "", "")},
		{"", target("a", "", "", "a-eu")},
		{"", target("a", "", "", "a-us")},
	} {
		marker := Marker(event.Result{Target: c.target}, Place{Target: c.infra})
		if seen[marker] {
			t.Errorf("%+v has the marker of another one: %s", c, marker)
		}
		seen[marker] = true
	}
	r := event.Result{Target: target("checkout", "staging", "apps/checkout/overlays/staging", "checkout-staging")}
	if got, want := Marker(r, Place{Target: infra}), "<!-- knative-promote:fef386b1f64153f868cc -->"; got != want {
		t.Errorf("Marker = %s, want %s", got, want)
	}
}
