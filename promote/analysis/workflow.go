package analysis

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/internal/redact"
	"github.com/acme/knative-promote/promote/analysis/template"
)

// The headers that a metric may have where the workflow's go along: those by which
// servers tell tenants apart, and a credential of its own instead of the workflow's.
// By others, such as Host, what stands before a server finds another one, and no
// list of these is ever whole.
var (
	tenantHeaders    = []string{"X-Scope-OrgID", "THANOS-TENANT"}
	credentialHeader = "Authorization"
)

// isOurs tells whether an address is the one that the workflow's headers are for.
func (p Prometheus) isOurs(address string) bool {
	return strings.TrimRight(address, "/") == strings.TrimRight(p.Default.Address, "/")
}

// misuses says what a metric may not have where the workflow's headers go along, as
// they would reach another server, or one that nobody has checked.
func (p Prometheus) misuses(m template.Prometheus) []error {
	if !p.isOurs(m.Address) || len(p.Default.Headers) == 0 {
		return nil
	}
	const otherwise = "give the metric an address and a credential of its own"
	var wrong []error
	if m.Insecure && !p.Default.Insecure {
		wrong = append(wrong, fmt.Errorf("provider.prometheus.insecure: true: prometheus-headers of the workflow are for a server whose certificate is checked: expected the input prometheus-ca, or %s", otherwise))
	}
	for _, header := range m.Headers {
		switch {
		case strings.EqualFold(header.Key, credentialHeader):
		case !slices.ContainsFunc(tenantHeaders, func(name string) bool { return strings.EqualFold(header.Key, name) }):
			wrong = append(wrong, fmt.Errorf("provider.prometheus.headers: %s: prometheus-headers of the workflow go along with it, and it may lead them elsewhere: expected %s or %s here, others in prometheus-headers, or %s",
				header.Key, strings.Join(tenantHeaders, ", "), credentialHeader, otherwise))
		case p.Default.Headers.Get(header.Key) != "":
			wrong = append(wrong, fmt.Errorf("provider.prometheus.headers: %s: prometheus-headers of the workflow say it: leave it out, or %s", header.Key, otherwise))
		}
	}
	return wrong
}

// cannot says of a metric that there is no source for it, or that it asks of one
// what that refuses.
func (s Sources) cannot(m template.Metric, secrets *redact.Secrets) []error {
	if m.Prometheus == nil {
		return nil
	}
	if s.Prometheus == nil {
		return []error{fmt.Errorf("%s: provider.prometheus: is not supported here: ask its HTTP API with the provider web", m.At)}
	}
	var wrong []error
	if ours, ok := s.Prometheus.(Prometheus); ok {
		for _, err := range ours.misuses(*m.Prometheus) {
			wrong = append(wrong, errors.New(secrets.Hide(m.At+": "+err.Error())))
		}
	}
	return wrong
}
