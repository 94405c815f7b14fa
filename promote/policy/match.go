package policy

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
)

// matched tells whether a choice of objects takes this one, in the version that
// is written: what matchPolicy Equivalent adds only a cluster knows. Without
// rules, which only a binding may leave out, it takes all kinds.
func matched(m admissionv1.MatchResources, a admission.Attributes) bool {
	kind := len(m.ResourceRules) == 0 || ruled(m.ResourceRules, a)
	return kind && !ruled(m.ExcludeResourceRules, a) && ofNamespace(m.NamespaceSelector, a) && ofLabels(m.ObjectSelector, a)
}

// ruled tells whether one of the rules takes the object.
func ruled(all []admissionv1.NamedRuleWithOperations, a admission.Attributes) bool {
	for _, rule := range all {
		matcher := rules.Matcher{Rule: rule.RuleWithOperations, Attr: a}
		if matcher.Matches() && (len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.GetName())) {
			return true
		}
	}
	return false
}

// ofNamespace takes what is in no namespace, as the API server does.
func ofNamespace(selector *metav1.LabelSelector, a admission.Attributes) bool {
	return a.GetNamespace() == "" || selects(selector, labels.Set{corev1.LabelMetadataName: a.GetNamespace()})
}

// ofLabels takes an object whose labels fit now, or did before.
func ofLabels(selector *metav1.LabelSelector, a admission.Attributes) bool {
	for _, object := range []any{a.GetObject(), a.GetOldObject()} {
		if o, there := object.(*unstructured.Unstructured); there && o != nil && selects(selector, o.GetLabels()) {
			return true
		}
	}
	return false
}

func selects(selector *metav1.LabelSelector, set labels.Set) bool {
	if selector == nil { // the API server's default: everything
		return true
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(set)
}

// denies tells what the policy does with an object that it matches: whether its
// bindings let it deny, or warn alone. Without any it denies everywhere.
func (p *policy) denies(a admission.Attributes) (applies, denies bool) {
	if len(p.bindings) == 0 {
		return true, true
	}
	for _, b := range p.bindings {
		if b.MatchResources != nil && !matched(*b.MatchResources, a) {
			continue
		}
		applies = true
		denies = denies || slices.Contains(b.ValidationActions, admissionv1.Deny)
	}
	return applies, denies
}
