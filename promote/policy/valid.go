package policy

import (
	"errors"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What only a cluster knows, and what to do without it.
var (
	errParams     = errors.New("parameters are objects of the cluster, which is not asked; write the values into spec.variables" + orLeave)
	errAuthorizer = errors.New("authorizer asks the cluster for rights, which is not asked" + leave)
	errNamespace  = errors.New("the namespace is an object of the cluster, which is not asked; use object.metadata.namespace" + orLeave)
	errUser       = errors.New("request.userInfo is who applies the object, which is not known before" + leave)
	errLabels     = errors.New("labels of namespaces are known in the cluster alone, but for " + corev1.LabelMetadataName + ", its name; select by that" + orLeave)
)

const (
	leave   = "; leave the policy to the cluster, and its file out of the input"
	orLeave = ", or leave the policy to the cluster, and its file out of the input"
)

// valid says what is wrong with a policy beside its expressions.
func (p *policy) valid() error {
	switch s := p.spec; {
	case s.ParamKind != nil:
		return fmt.Errorf("spec.paramKind: %w", errParams)
	case len(s.Validations) == 0:
		return errors.New("spec.validations is empty: expected at least one")
	case s.MatchConstraints == nil || len(s.MatchConstraints.ResourceRules) == 0:
		return errors.New("spec.matchConstraints.resourceRules is empty: expected at least one")
	case s.FailurePolicy != nil && *s.FailurePolicy != admissionv1.Fail && *s.FailurePolicy != admissionv1.Ignore:
		return fmt.Errorf("spec.failurePolicy is %s: expected Fail or Ignore", quoted(string(*s.FailurePolicy)))
	}
	return validMatch("spec.matchConstraints", *p.spec.MatchConstraints)
}

// validMatch says what is wrong with the choice of objects in a field.
func validMatch(field string, m admissionv1.MatchResources) error {
	for i, rule := range m.ResourceRules {
		if len(rule.APIGroups) == 0 || len(rule.APIVersions) == 0 || len(rule.Operations) == 0 || len(rule.Resources) == 0 {
			return fmt.Errorf("%s.resourceRules[%d] matches nothing: expected apiGroups, apiVersions, operations and resources", field, i)
		}
		if err := validNames(rule.Rule); err != nil {
			return fmt.Errorf("%s.resourceRules[%d].%w", field, i, err)
		}
	}
	for _, selector := range []struct {
		name string
		of   *metav1.LabelSelector
	}{{"objectSelector", m.ObjectSelector}, {"namespaceSelector", m.NamespaceSelector}} {
		if _, err := metav1.LabelSelectorAsSelector(selector.of); err != nil {
			return fmt.Errorf("%s.%s: %w", field, selector.name, err)
		}
	}
	if asksForLabels(m.NamespaceSelector) {
		return fmt.Errorf("%s.namespaceSelector: %w", field, errLabels)
	}
	return nil
}

// validNames refuses what no object can have, so that the policy would deny nothing: a group
// with its version, and a resource that is no plural in small letters, as the API server's
// names are.
func validNames(rule admissionv1.Rule) error {
	for _, group := range rule.APIGroups {
		if name, _, versioned := strings.Cut(group, "/"); versioned {
			return fmt.Errorf("apiGroups: no group is called %s: expected it without its version, %s", quoted(group), quoted(name))
		}
	}
	for _, resource := range rule.Resources {
		name, _, _ := strings.Cut(resource, "/")
		if plural := strings.ToLower(name) == name && strings.HasSuffix(name, "s"); name != "*" && !plural {
			return fmt.Errorf("resources: no resource is called %s: expected its plural in small letters, such as services", quoted(resource))
		}
	}
	return nil
}

// asksForLabels tells whether a selector of namespaces asks for more than their
// names, which they have as a label.
// https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetes-io-metadata-name
func asksForLabels(selector *metav1.LabelSelector) bool {
	if selector == nil {
		return false
	}
	for key := range selector.MatchLabels {
		if key != corev1.LabelMetadataName {
			return true
		}
	}
	for _, expression := range selector.MatchExpressions {
		if expression.Key != corev1.LabelMetadataName {
			return true
		}
	}
	return false
}
