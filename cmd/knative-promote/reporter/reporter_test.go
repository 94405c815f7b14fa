package reporter

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/fake/consoletest"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/report"
)

// TestPageLimit: with the longest trailers, what a pull request says is no longer
// than GitHub takes.
func TestPageLimit(t *testing.T) {
	t.Parallel()
	change := gitops.Change{Subject: "web production: 10 %"}
	for range 14 {
		change.Trailers = append(change.Trailers, gitops.Trailer{Key: "Promotion-Override", Value: strings.Repeat("why ", 1<<10)})
	}
	_, body, err := change.Message()
	if err != nil {
		t.Fatal(err)
	}
	if long := pageLimit + len("\n\n") + len(body); long > report.CommentLimit {
		t.Errorf("a pull request may say %d bytes, and GitHub takes %d", long, report.CommentLimit)
	}
}

// TestWithoutComment has runs that write no comment, as they have nothing to
// show, or nowhere: nobody waits for one behind them, which synctest would say.
func TestWithoutComment(t *testing.T) {
	t.Parallel()
	hub := console.Workflow{Repository: "acme/shop", APIURL: "https://api.github.example"}
	synctest.Test(t, func(t *testing.T) {
		New(t.Context(), inputs.Settings{GitHubToken: "x", PullRequest: 7}, hub, quietConsole())
	})
	synctest.Test(t, func(t *testing.T) {
		show := New(t.Context(), inputs.Settings{}, hub, quietConsole())
		show.Tell(event.StepBegan{}, event.Result{Steps: []event.Step{{Title: "10 %", Progress: event.Running}}})
		if _, err := show.End(t.Context(), event.Result{Status: event.Promoted}, nil); err != nil {
			t.Error(err)
		}
	})
}

func quietConsole() *console.Console {
	return console.New(consoletest.Environment(), io.Discard, io.Discard)
}
