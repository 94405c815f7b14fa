package plan

import (
	"errors"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
)

// A Readiness is what is known of a revision. The zero value is one that is
// Ready, or of which nothing is known: only a clear no is a no.
type Readiness struct {
	Gone    bool   // it does not exist
	Unknown bool   // nobody could tell
	Waits   bool   // the cluster gives it no further pod, which passes by itself; those that it has may serve everybody
	Why     string // why Knative cannot route to it, in words that follow its name; empty: it can, or that is not known
}

// Down tells whether it is there and not Ready, and does not become so by itself. One that does
// not exist can be made again from Git.
func (r Readiness) Down() bool { return r.Why != "" && !r.Gone && !r.Waits }

// Lost tells whether Knative cannot route to it, and will not by itself.
func (r Readiness) Lost() bool { return r.Gone || r.Down() }

// readinessOf reads it from the answer of Argo CD.
func readinessOf(found *servingv1.Revision, err error) Readiness {
	switch {
	case errors.Is(err, argo.ErrNotFound):
		return Readiness{Gone: true, Why: "does not exist"}
	case err != nil || found == nil:
		return Readiness{Unknown: true}
	}
	ready := found.Status.GetCondition(servingv1.RevisionConditionReady)
	if !ready.IsFalse() {
		return Readiness{}
	}
	return Readiness{Why: "is not Ready (" + argo.Why(ready) + ")", Waits: argo.WaitsForPods(found)}
}

// ReadinessBeside is what is known of a revision where a Service is live. One that
// Argo CD does not know is not gone as long as the live Service routes to it: Argo CD
// can be told not to look at revisions.
func ReadinessBeside(live *servingv1.Service, name string, found *servingv1.Revision, err error) Readiness {
	if ready := readinessOf(found, err); !ready.Gone || !routes(live, name) {
		return ready
	}
	return Readiness{}
}

// routes tells whether a live Service is content with its traffic, which names a
// revision.
func routes(live *servingv1.Service, name string) bool {
	return live != nil && live.Status.GetCondition(servingv1.ServiceConditionRoutesReady).IsTrue() &&
		slices.ContainsFunc(live.Status.Traffic, func(t servingv1.TrafficTarget) bool { return t.RevisionName == name })
}
