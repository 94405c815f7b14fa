package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/internal/golden"
	"github.com/acme/knative-promote/promote/manifest"
)

func TestComment(t *testing.T) {
	t.Parallel()
	golden.Run(t, "comment", "comment.md", func(t *testing.T, parts map[string][]byte) string {
		r := result(t, parts)
		comment := Comment(r)
		if !strings.HasPrefix(comment, Marker(r)+"\n") {
			t.Errorf("comment does not start with its marker: %.80q", comment)
		}
		checkPage(t, comment, CommentLimit)
		checkPage(t, Summary(r), SummaryLimit)
		return comment
	})
}

func result(t *testing.T, parts map[string][]byte) promote.Result {
	t.Helper()
	var r promote.Result
	if err := json.Unmarshal(parts["result.json"], &r); err != nil {
		t.Fatal(err)
	}
	r.Difference = manifest.Compare(parts["before.yaml"], parts["after.yaml"])
	r.CommitURL = "https://github.com/acme/infra/commit/"
	r.Undo = "knative-promote rollback --repository acme/infra --path " + r.Overlay
	r.UndoNeeds = []string{"INPUT_TOKEN", "INPUT_ARGOCD_TOKEN"}
	return r
}

func TestMarker(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range []promote.Result{
		{Service: "a", Environment: "b", Overlay: "apps/a/overlays/b"}, {Service: "a/b", Overlay: "apps"}, {Service: "a", Environment: "b/", Overlay: "apps"},
		{Service: "a", Environment: "b", Overlay: "/apps"}, {Service: "a", Environment: "b", Overlay: "apps"}, {Service: "b", Environment: "a", Overlay: "apps"},
		{Service: "a", Target: "https://github.com/acme/infra.git main"}, {Service: "a", Target: "https://github.com/acme/infra.git next"},
		{Service: "a", Target: "https://github.com/acme/other.git main"}, {Service: "a", Application: "a-eu"}, {Service: "a", Application: "a-us"},
	} {
		marker := Marker(r)
		if seen[marker] {
			t.Errorf("%+v has the marker of another one: %s", r, marker)
		}
		seen[marker] = true
	}
	r := promote.Result{Service: "checkout", Environment: "staging", Overlay: "apps/checkout/overlays/staging", Application: "checkout-staging", Target: "https://github.com/acme/infra.git main"}
	if got, want := Marker(r), "<!-- knative-promote:fef386b1f64153f868cc -->"; got != want {
		t.Errorf("Marker = %s, want %s", got, want)
	}
}
