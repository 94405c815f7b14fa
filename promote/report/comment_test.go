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

func result(t *testing.T, parts map[string][]byte) (promote.Result, Place) {
	t.Helper()
	var r promote.Result
	if err := json.Unmarshal(parts["result.json"], &r); err != nil {
		t.Fatal(err)
	}
	r.Difference = manifest.Compare(parts["before.yaml"], parts["after.yaml"])
	return r, Place{
		CommitURL: "https://github.com/acme/infra/commit/",
		Undo:      "knative-promote rollback --repository acme/infra --path " + r.Overlay,
		UndoNeeds: []string{"INPUT_TOKEN", "INPUT_ARGOCD_TOKEN"},
	}
}

func TestMarker(t *testing.T) {
	t.Parallel()
	const infra = "https://github.com/acme/infra.git main"
	seen := map[string]bool{}
	for _, c := range []struct {
		target string
		result promote.Result
	}{
		{"", promote.Result{Service: "a", Environment: "b", Overlay: "apps/a/overlays/b"}},
		{"", promote.Result{Service: "a/b", Overlay: "apps"}},
		{"", promote.Result{Service: "a", Environment: "b/", Overlay: "apps"}},
		{"", promote.Result{Service: "a", Environment: "b", Overlay: "/apps"}},
		{"", promote.Result{Service: "a", Environment: "b", Overlay: "apps"}},
		{"", promote.Result{Service: "b", Environment: "a", Overlay: "apps"}},
		{infra, promote.Result{Service: "a"}},
		{"https://github.com/acme/infra.git next", promote.Result{Service: "a"}},
		{"https://github.com/acme/other.git main", promote.Result{Service: "a"}},
		{"", promote.Result{Service: "a", Application: "a-eu"}},
		{"", promote.Result{Service: "a", Application: "a-us"}},
	} {
		marker := Marker(c.result, Place{Target: c.target})
		if seen[marker] {
			t.Errorf("%+v has the marker of another one: %s", c, marker)
		}
		seen[marker] = true
	}
	r := promote.Result{Service: "checkout", Environment: "staging", Overlay: "apps/checkout/overlays/staging", Application: "checkout-staging"}
	if got, want := Marker(r, Place{Target: infra}), "<!-- knative-promote:fef386b1f64153f868cc -->"; got != want {
		t.Errorf("Marker = %s, want %s", got, want)
	}
}
