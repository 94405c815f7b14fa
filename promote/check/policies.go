package check

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/manifest"
)

// PolicyDenied is the rule that finds what a policy denies. Without it no policy
// is read.
const PolicyDenied = "policy-denied"

// manifestRules are about what the promotion's commits would apply: whether its
// fields are known, and whether policies take it.
func manifestRules() []Rule {
	return []Rule{
		rule("unknown-field", findUnknown), rule("argo-cannot-compare", findIncomparable), rule("entry-without-key", findKeyless), rule("list-too-long", findLongLists),
		rule("fields-not-known", findBySchema), rule("argo-cannot-read", findUnreadable), rule("object-with-items", findItems), rule("set-by-the-server", findServerFields), rule("too-large-to-apply", findTooLarge),
		rule("pod-security", findInsecure), rule(PolicyDenied, findPolicyDenied), rule("policy-unmatched", findUnmatched),
	}
}

// result is the overlay as the promotion leaves it, as far as that is known.
func (f Facts) result() *knative.State {
	switch {
	case len(f.Planned) > 0:
		return f.Planned[len(f.Planned)-1]
	case f.Next != nil:
		return f.Next
	}
	return f.Overlay
}

// isPromoted tells whether an object is a Service that is promoted: the one that
// is asked for, or any where none is. Every promotion changes it.
func isPromoted(f Facts, o unstructured.Unstructured) bool {
	name := f.result().Service()
	return o.GetAPIVersion() == "serving.knative.dev/v1" && o.GetKind() == "Service" && (name == "" || o.GetName() == name)
}

// applied tells whether a commit of a promotion, or the change that is proposed,
// changes an object. What it does not change Argo CD does not send to the API
// server again.
func applied(f Facts, o unstructured.Unstructured) bool {
	before := f.Overlay
	if f.Before != nil {
		before = f.Before
	}
	return isPromoted(f, o) || !slices.ContainsFunc(objects(before), func(before unstructured.Unstructured) bool {
		return reflect.DeepEqual(before.Object, o.Object)
	})
}

// title is an object as people name it.
func title(o unstructured.Unstructured) string {
	return oneline.Of(o.GetKind()+" "+o.GetName(), 200)
}

// inObject finds the line that gives a rendered object a field.
func (f Facts) inObject(o unstructured.Unstructured, steps ...any) place {
	return f.where(o.GetAPIVersion(), o.GetKind(), o.GetName(), steps...)
}

// findPolicyDenied quotes no values but those that the policy's own message has.
func findPolicyDenied(f Facts) []found {
	var all []found
	for _, d := range f.Policies.Denials {
		applied := d.Applied || f.result() != nil && isPromoted(f, d.Object)
		must := d.Made == "" || f.Request.Strict
		all = append(all, found{severity: errorIf(applied && !d.Warns && must), at: f.inObject(d.Object, objectField(d.Expression)...), values: values{
			"Policy": d.Policy, "Object": title(d.Object), "Message": manifest.HideSecrets(d.Message), "Expression": d.Expression, "Of": d.File,
			"Failed": d.Failed, "Warns": d.Warns, "Applied": applied, "Made": d.Made,
		}})
	}
	return all
}

func findUnmatched(f Facts) []found {
	var all []found
	for _, u := range f.Policies.Unmatched {
		all = append(all, found{values: values{"Policy": u.Policy, "Of": u.File}})
	}
	return all
}

// objectField is the field of the object that an expression asks for first, for
// people to find its line.
func objectField(expression string) []any {
	_, path, _ := strings.Cut(" "+expression, "object.")
	end := strings.IndexFunc(path, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.')
	})
	if end >= 0 {
		path = path[:end]
	}
	if path == "" {
		return []any{"spec", "template", "spec", "containers"} // what most policies are about
	}
	return numbered(strings.Split(path, "."))
}
