package facts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/apart"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/policy"
	"github.com/acme/knative-promote/promote/setting"
)

// AsksPolicies tells whether policies are to be asked that stand in files of those
// patterns.
func AsksPolicies(patterns, skip []string) bool {
	return len(patterns) > 0 && !slices.Contains(skip, check.PolicyDenied)
}

// ReadPolicies reads the policies in a tree. The error is bad input, that of ctx, or that the tree
// cannot be read.
func ReadPolicies(ctx context.Context, tree fs.FS, patterns []string) (policy.Set, error) {
	set, err := policy.Read(ctx, tree, patterns)
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		return set, fmt.Errorf("policies: %w", err)
	}
	return set, badPolicies(ctx, err)
}

// badPolicies is an error of policies as one of bad input, unless the run ends.
func badPolicies(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, apart.ErrEnded) || errors.Is(err, apart.ErrLate) {
		return setting.Bad("policies: %w: expected fewer, or simpler expressions", err)
	}
	return setting.Bad("policies: %w", err)
}

// Judged is what policies say of overlays, each as an update of the one before, in a
// namespace unless an object names its own. What is said of one is not said again of the
// next. The error is bad input: it takes too long, or too much memory.
func Judged(ctx context.Context, set policy.Set, namespace string, overlays ...*knative.State) (policy.Answer, error) {
	var renders [][]unstructured.Unstructured
	for _, overlay := range overlays {
		renders = append(renders, overlay.Objects())
	}
	answer, err := set.Evaluate(ctx, namespace, renders...)
	return answer, badPolicies(ctx, err)
}

// judged is what the policies at the tip say of the commits that are planned. Where none
// is left, it is what they say of the overlay with the images set.
func (r Reader) judged(ctx context.Context, at plan.Situation, planned []*knative.State) (policy.Answer, error) {
	if !AsksPolicies(r.Request.Policies, r.Skip) {
		return policy.Answer{}, nil
	}
	set, err := ReadPolicies(ctx, at.Tree, r.Request.Policies)
	if err != nil {
		return policy.Answer{}, err
	}
	if len(planned) == 0 {
		planned = []*knative.State{at.Next}
	}
	return Judged(ctx, set, namespaceOf(at), slices.Concat([]*knative.State{at.Now}, planned)...)
}
