package plan

import (
	"path"
	"strings"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/record"
)

// A Target is a Service that a run promotes: its overlay in the infra
// repository, and the Argo CD Application that syncs it. Without a name the
// Service is the overlay's only one.
type Target struct {
	argo.Target
	Environment string // label for people; usually the overlay folder's name
	Overlay     string // folder of the kustomize overlay, slash-separated, relative to the repository
}

// Place is where the target's record is.
func (t Target) Place() record.Place {
	return record.Place{Repository: t.Source.RepoURL, Branch: t.Source.Branch, Overlay: t.Overlay}
}

// EnvironmentOf is the label of an overlay that nobody has given another one: the
// name of its folder, none for the repository's root.
func EnvironmentOf(overlay string) string {
	if overlay == "" || overlay == "." {
		return ""
	}
	return path.Base(overlay)
}

// Subject is a commit's, of what happens to the target.
func Subject(t Target, what string) string {
	return strings.TrimSpace(t.Service+" "+t.Environment) + ": " + what
}

// Short is a revision's name without the Service's.
func Short(service, revision string) string {
	return strings.TrimPrefix(revision, service+"-")
}

// TargetOf is one that is known by its overlay alone, in a repository and branch.
func TargetOf(source argo.Source, overlay, service string) Target {
	source.Path = overlay
	return Target{Target: argo.Target{Service: service, Source: source}, Overlay: overlay, Environment: EnvironmentOf(overlay)}
}

// RecordAt is the record of an overlay; the zero Record where it has none that can be
// read.
func RecordAt(at gitops.Snapshot, t Target) record.Record {
	text, err := knative.ReadRecord(at.Tree, t.Overlay, t.Service)
	if err != nil {
		return record.Record{}
	}
	r, err := record.Parse(text)
	if err != nil {
		return record.Record{}
	}
	return r.Of(t.Place())
}
