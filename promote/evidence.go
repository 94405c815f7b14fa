package promote

import (
	"context"
	"strings"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/manifest"
)

// askEvidence asks what the new revisions have written whose gates have failed, while the run decides what to
// leave behind: their pods may be gone when it has. What it gives notes the answers.
func askEvidence(ctx context.Context, r *run, moves []*move) (note func()) {
	notes := make(chan func(), len(moves))
	asked := 0
	for _, m := range moves {
		if r.systems.Evidence == nil || r.systems.cancelled(ctx) || !m.gateFailed() {
			continue
		}
		asked++
		go func() {
			told := r.systems.Evidence.Evidence(context.WithoutCancel(ctx), m.target.App, m.target.plan.To)
			notes <- func() { tellEvidence(m.target.journal, told) }
		}()
	}
	return func() {
		for range asked {
			(<-notes)()
		}
	}
}

// tellEvidence tells what a pod has written. What is a secret by its own form is hidden.
func tellEvidence(j *journal.Journal, told argo.Evidence) {
	told.Events, told.Log = hidden(told.Events), hidden(told.Log)
	if len(told.Events)+len(told.Log) > 0 {
		j.Tell(event.Told{Evidence: event.Evidence(told)})
	}
}

func hidden(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return strings.Split(manifest.HideSecrets(strings.Join(lines, "\n")), "\n")
}
