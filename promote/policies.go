package promote

import (
	"cmp"
	"context"
	"slices"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/policy"
	"github.com/acme/knative-promote/promote/proposal"
)

// denials are what the policies at the tip say of the commits that are planned,
// each as an update of what was there before it. Where none is left, it is what
// they say of the overlay with the images set. The error is bad input.
func (p *targetRun) denials(ctx context.Context) ([]policy.Denial, error) {
	if len(p.Policies) == 0 || slices.Contains(p.Skip, check.PolicyDenied) {
		return nil, nil
	}
	set, err := proposal.ReadPolicies(p.at.Tree, p.Policies)
	if err != nil {
		return nil, err
	}
	limited, stop := context.WithTimeout(ctx, proposal.PoliciesTime)
	defer stop()
	before, planned := p.at.Now, p.planned
	if len(planned) == 0 {
		planned = []*knative.State{p.at.Next}
	}
	var all []policy.Denial
	for _, after := range planned {
		found, err := set.Evaluate(limited, before.Objects(), after.Objects(), p.namespace())
		if err != nil {
			return nil, proposal.TooLong(ctx, err)
		}
		all, before = merged(all, found), after
	}
	return all, nil
}

// merged adds denials, but not those that a commit before has had.
func merged(all, more []policy.Denial) []policy.Denial {
	for _, d := range more {
		if !slices.ContainsFunc(all, d.Repeats) {
			all = append(all, d)
		}
	}
	return all
}

// namespace is where the Application puts objects that name none.
func (p *targetRun) namespace() string {
	if p.at.App != nil {
		return cmp.Or(p.at.App.Spec.Destination.Namespace, live.NamespaceOf(p.at.Live))
	}
	return live.NamespaceOf(p.at.Live)
}
