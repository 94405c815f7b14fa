package check

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
)

// PolicyDenied is the rule that finds what a policy denies. Without it no policy
// is read.
const PolicyDenied = "policy-denied"

// manifestRules are about what the promotion's commits would apply: whether its
// fields are known, and whether policies take it.
func manifestRules() []Rule {
	return []Rule{
		{
			ID: "unknown-field", Severity: event.SeverityWarning, Find: findUnknown,
			Summary: "a field that its kind does not have, or a value of the wrong type",
			Link:    "https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation",
		},
		{
			ID: "pod-security", Severity: event.SeverityWarning, Find: findInsecure,
			Summary: "a pod template that the pod security standard of the input `pod-security` forbids",
			Link:    "https://kubernetes.io/docs/concepts/security/pod-security-standards/",
		},
		{
			ID: PolicyDenied, Severity: event.SeverityWarning, Find: findPolicyDenied,
			Summary: "a ValidatingAdmissionPolicy of the input `policies` denies an object",
			Link:    "https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/",
		},
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
func (f Facts) isPromoted(o unstructured.Unstructured) bool {
	name := f.result().Service()
	return o.GetAPIVersion() == "serving.knative.dev/v1" && o.GetKind() == "Service" && (name == "" || o.GetName() == name)
}

// applied tells whether a commit of a promotion, or the change that is proposed,
// changes an object. What it does not change Argo CD does not send to the API
// server again.
func (f Facts) applied(o unstructured.Unstructured) bool {
	before := f.Overlay
	if f.Before != nil {
		before = f.Before
	}
	return f.isPromoted(o) || !slices.ContainsFunc(objects(before), func(before unstructured.Unstructured) bool {
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
func findPolicyDenied(f Facts) []event.Finding {
	var found []event.Finding
	for _, d := range f.Denials {
		at := f.inObject(d.Object, objectField(d.Expression)...)
		message := manifest.HideSecrets(d.Message)
		finding := event.Finding{
			Problem:  fmt.Sprintf("policy %s denies %s: %s", d.Policy, title(d.Object), message),
			Effect:   "The API server refuses it, and with it the sync of every commit that has it.",
			Evidence: fmt.Sprintf("expression %s of %s", d.Expression, d.File),
			Fix:      "Change the object so that the expression is true, or the policy.",
			File:     at.File, Line: at.Line,
		}
		if d.Failed {
			finding.Problem = fmt.Sprintf("policy %s cannot be evaluated on %s: %s", d.Policy, title(d.Object), message)
			finding.Fix = "Ask in the expression whether a field is there, by has(), before it is read."
		}
		if d.Expression == "" {
			finding.Evidence = "policy of " + d.File
		}
		applied := d.Applied || f.result() != nil && f.isPromoted(d.Object)
		switch {
		case d.Warns && d.Failed:
			finding.Effect = "Its failurePolicy or its binding lets the object pass."
		case d.Warns:
			finding.Problem = fmt.Sprintf("policy %s warns of %s: %s", d.Policy, title(d.Object), message)
			finding.Effect = "Its binding does not deny, so the API server takes the object."
		case applied:
			finding.Severity = event.SeverityError
		default:
			finding.Effect = "A promotion does not change it, and goes on. The next commit that does is refused."
		}
		found = append(found, finding)
	}
	return found
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
