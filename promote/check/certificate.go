package check

// findCertificate cannot see whose certificates the cluster has.
// https://github.com/knative/serving/blob/v0.42.2/pkg/reconciler/route/route.go#L300-L325
func findCertificate(f Facts) []found {
	const off = "networking.knative.dev/disable-external-domain-tls"
	tag, url := f.Request.CandidateTag, f.Service.Status.URL
	if url == nil || url.Scheme != "https" || !f.Request.Shifts || tag == "" || f.Service.Annotations[off] == "true" {
		return nil
	}
	return []found{{values: values{"Tag": tag, "URL": url}}}
}
