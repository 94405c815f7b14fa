package main

import (
	"fmt"

	"github.com/rogpeppe/go-internal/testscript"
)

// deployment prints the deployments of the infra repository, the oldest first,
// each with the subject of its commit, and how far it is.
func deployment(ts *testscript.TestScript, w *world, _ []string) {
	for _, d := range w.hub.Infra.Deployments() {
		if d.Merged {
			ts.Fatalf("deployment %d has merged the default branch", d.ID)
		}
		fmt.Fprintf(ts.Stdout(), "%s %s | %s\n", d.Environment, w.git(ts, "show", "-s", "--format=%s", d.Ref), d.Description)
		for _, s := range d.Statuses {
			fmt.Fprintf(ts.Stdout(), "  %s: %s url=%s log=%t\n", s.State, s.Description, s.EnvironmentURL, s.LogURL != "")
		}
	}
}
