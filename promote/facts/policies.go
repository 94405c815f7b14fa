package facts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/policy"
	"github.com/acme/knative-promote/promote/setting"
)

// policiesTime is the longest that all policies together may take. The API
// server's limits allow about a second for one policy and one object.
const policiesTime = 30 * time.Second

// AsksPolicies tells whether policies are to be asked that stand in files of those
// patterns.
func AsksPolicies(patterns, skip []string) bool {
	return len(patterns) > 0 && !slices.Contains(skip, check.PolicyDenied)
}

// ReadPolicies reads the policies in a tree. The error is bad input, or that the tree
// cannot be read.
func ReadPolicies(tree fs.FS, patterns []string) (policy.Set, error) {
	set, err := policy.Read(tree, patterns)
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		return set, fmt.Errorf("policies: %w", err)
	}
	if err != nil {
		return set, setting.Bad("policies: %w", err)
	}
	return set, nil
}

// Denials are what policies say of overlays, each as an update of the one before, in a
// namespace unless an object names its own. What is said of one is not said again of the
// next. The error is bad input: it takes too long.
func Denials(ctx context.Context, set policy.Set, namespace string, overlays ...*knative.State) ([]policy.Denial, error) {
	limited, stop := context.WithTimeout(ctx, policiesTime)
	defer stop()
	var all []policy.Denial
	for i, before := range overlays[:len(overlays)-1] {
		found, err := set.Evaluate(limited, before.Objects(), overlays[i+1].Objects(), namespace)
		switch {
		case errors.Is(err, policy.ErrMemory):
			err = setting.Bad("policies: %v: expected simpler ones", err)
		case err != nil && ctx.Err() == nil:
			err = setting.Bad("policies: evaluating them takes longer than %s: expected fewer, or simpler expressions", policiesTime)
		}
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			if !slices.ContainsFunc(all, d.Repeats) {
				all = append(all, d)
			}
		}
	}
	return all, nil
}

// denials are what the policies at the tip say of the commits that are planned. Where none
// is left, it is what they say of the overlay with the images set.
func (r Reader) denials(ctx context.Context, at plan.Situation, planned []*knative.State) ([]policy.Denial, error) {
	if !AsksPolicies(r.Request.Policies, r.Skip) {
		return nil, nil
	}
	set, err := ReadPolicies(at.Tree, r.Request.Policies)
	if err != nil {
		return nil, err
	}
	if len(planned) == 0 {
		planned = []*knative.State{at.Next}
	}
	return Denials(ctx, set, namespaceOf(at), slices.Concat([]*knative.State{at.Now}, planned)...)
}
