package promote

import (
	"path"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/plan"
)

// Waiting are the candidates of pull requests that a push has brought to the branch,
// and that no promotion has gone on with. The source is their repository and branch.
func Waiting(source argo.Source, before, after gitops.Snapshot) ([]event.Candidate, error) {
	changed, err := gitops.Changed(before, after)
	if err != nil {
		return nil, err
	}
	var all []event.Candidate
	for _, file := range changed {
		t := plan.TargetOf(source, path.Dir(file), knative.OwnedBy(file))
		r := plan.RecordAt(after, t)
		if r.Pull > 0 && !r.HasPassed() && !r.RollsBack() && r.Promotion != plan.RecordAt(before, t).Promotion {
			all = append(all, event.Candidate{Overlay: t.Overlay, Service: t.Service, Environment: t.Environment})
		}
	}
	return all, nil
}
