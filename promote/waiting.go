package promote

import (
	"path"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/record"
)

// A Candidate is one of a pull request that waits for a promotion.
type Candidate struct {
	Overlay     string `json:"path"`
	Service     string `json:"service"`
	Environment string `json:"environment"`
}

// Waiting are the candidates of pull requests that a push has brought to the branch,
// and that no promotion has gone on with. The source is their repository and branch.
func Waiting(source argo.Source, before, after gitops.Snapshot) ([]Candidate, error) {
	changed, err := gitops.Changed(before, after)
	if err != nil {
		return nil, err
	}
	var all []Candidate
	for _, file := range changed {
		t := targetOf(source, path.Dir(file), knative.OwnedBy(file))
		r := recordAt(after, t)
		if r.Pull > 0 && !r.HasPassed() && !r.RollsBack() && r.Promotion != recordAt(before, t).Promotion {
			all = append(all, Candidate{t.Overlay, t.Service, t.Environment})
		}
	}
	return all, nil
}

// recordAt is the record of an overlay; the zero Record where it has none that can be
// read.
func recordAt(at gitops.Snapshot, t Target) record.Record {
	text, err := knative.ReadRecord(at.Tree, t.Overlay, t.Service)
	if err != nil {
		return record.Record{}
	}
	r, err := record.Parse(text)
	if err != nil {
		return record.Record{}
	}
	return r.Of(t.place())
}
