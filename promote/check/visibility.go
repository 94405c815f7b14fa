package check

import (
	"fmt"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// visibility is the label by which Knative serves a Service in the cluster alone.
const (
	visibility   = "networking.knative.dev/visibility"
	clusterLocal = "cluster-local"
)

// findClusterLocal is about a label that only the cluster has: Argo CD leaves it, as to it
// what others have added is no difference.
func findClusterLocal(f Facts) []found {
	if !hidden(f.Service, f.Overlay) {
		return nil
	}
	return []found{{values: values{"Label": visibility, "Value": clusterLocal, "URL": f.Service.Status.URL, "Command": unhide(f.Service)}}}
}

// HiddenWarning says that nobody outside the cluster reaches a Service that is live, although
// Git does not say so; empty: they do, or it is not known.
func HiddenWarning(live *servingv1.Service, shows *knative.State) string {
	if !hidden(live, shows) {
		return ""
	}
	return fmt.Sprintf("nobody outside the cluster reaches Service %s: somebody has labelled it %s=%s there, which is not in Git; to take that away: %s",
		live.Name, visibility, clusterLocal, unhide(live))
}

// hidden tells whether the live Service is visible in the cluster alone, and Git does not
// say so.
func hidden(live *servingv1.Service, shows *knative.State) bool {
	service := rendered(shows)
	return live != nil && service != nil && live.Labels[visibility] == clusterLocal && service.Labels[visibility] != clusterLocal
}

// unhide is the command that takes the label away.
func unhide(live *servingv1.Service) string {
	return fmt.Sprintf("kubectl label ksvc %s -n %s %s-", live.Name, live.Namespace, visibility)
}
