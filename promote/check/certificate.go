package check

import (
	"fmt"

	"github.com/acme/knative-promote/promote/event"
)

// findCertificate cannot see whose certificates the cluster has: its settings are not
// for an Argo CD token.
// https://github.com/knative/serving/blob/v0.42.2/pkg/reconciler/route/route.go#L300-L325
func findCertificate(f Facts) []event.Finding {
	const off = "networking.knative.dev/disable-external-domain-tls"
	tag := f.Request.CandidateTag
	if f.Service == nil || f.Service.Status.URL == nil || f.Service.Status.URL.Scheme != "https" || !f.Request.Shifts || tag == "" ||
		f.Service.Annotations[off] == "true" {
		return nil
	}
	return []event.Finding{{
		Problem: fmt.Sprintf("Service %s is served by https, and each promotion asks for the host %s-%s anew", f.Request.Service, tag, f.Service.Status.URL.Host),
		Effect: "None with a wildcard certificate, or TLS in front of Knative. Where Knative issues a certificate for each host, it deletes the candidate's when a promotion takes the tag " +
			"away at 100 %, and the next promotion may be live only when a new one is there, which may take longer than wait-timeout. Let's Encrypt issues the same one five times in seven days.",
		Evidence: fmt.Sprintf("status.url of the live Service: %s", f.Service.Status.URL),
		Fix: "Nothing, or let Knative issue one wildcard certificate for each namespace (namespace-wildcard-cert-selector in config-network, which needs an issuer that answers DNS-01), " +
			"or set the input wait-timeout to longer.",
	}}
}
