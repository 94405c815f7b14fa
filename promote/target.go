package promote

import "github.com/acme/knative-promote/argo"

// A Target is a Service that a run promotes: its overlay in the infra
// repository, and the Argo CD Application that syncs it.
type Target struct {
	Service     string      // name of the Knative Service as the overlay renders it; empty: the overlay's only one
	Environment string      // label for people; usually the overlay folder's name
	Overlay     string      // folder of the kustomize overlay, slash-separated, relative to the repository
	App         argo.App    // the Argo CD Application that syncs the overlay
	Source      argo.Source // repository, branch and path as Argo CD knows them
}
