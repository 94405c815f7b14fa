package main

import (
	"fmt"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acme/knative-promote/internal/fake/githubtest"
)

// commitStatus prints the commit statuses of the infra repository, or sets one.
//
//	status                 print all that were set, with the subjects of their commits, oldest first
//	status NAME STATE      set one on the commit that the last program put out
func commitStatus(ts *testscript.TestScript, w *world, args []string) {
	if len(args) == 2 {
		for _, o := range w.last.outputs {
			if o.Name == "commit" {
				w.hub.Infra.Set(githubtest.CommitStatus{Commit: o.Value, Context: args[0], State: args[1]})
			}
		}
		return
	}
	for _, s := range w.hub.Infra.Statuses() {
		fmt.Fprintf(ts.Stdout(), "%s %s: %s | %s\n", s.Context, s.State, s.Description, w.git(ts, "show", "-s", "--format=%s", s.Commit))
	}
}
