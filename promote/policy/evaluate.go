package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/acme/knative-promote/internal/oneline"
)

// A Denial is a validation that an object does not pass.
type Denial struct {
	Policy     string
	File       string // of the policy
	Object     unstructured.Unstructured
	Made       string // kind of what Knative makes of the object, where that is denied; empty: the object is
	Expression string // of the validation; empty where the whole policy could not be evaluated
	Message    string // one line, which may quote what is in the object
	Applied    bool   // the object is new or changes; else it stands as before
	Warns      bool   // its bindings do not deny, or it could not be evaluated and failurePolicy is Ignore
	Failed     bool   // the expression could not be evaluated
}

// repeats tells whether it is of the same validation as an earlier one of the same
// object, as that of a commit and of the next one are. Where the object is applied by
// the later commit alone it is another.
func (d Denial) repeats(earlier Denial) bool {
	return d.Policy == earlier.Policy && d.Made == earlier.Made && d.Expression == earlier.Expression && (earlier.Applied || !d.Applied)
}

func identity(o unstructured.Unstructured) string {
	kind := o.GroupVersionKind().GroupKind()
	return fmt.Sprint(kind, " ", o.GetNamespace(), " ", o.GetName(), " ", o.GetGenerateName())
}

func byIdentity(objects []unstructured.Unstructured) map[string]unstructured.Unstructured {
	all := map[string]unstructured.Unstructured{}
	for _, o := range objects {
		all[identity(o)] = o
	}
	return all
}

// evaluate asks all policies about an object of a render, after those of the render before, and about what Knative makes of it.
// A policy that says of a Pod what it says of its Deployment is told once.
func evaluate(policies []*policy, o unstructured.Unstructured, old map[string]unstructured.Unstructured, namespace string) (denials []Denial) {
	requests := []request{requestOf(o, old, namespace)}
	for _, made := range Made(o) {
		r := requestOf(made, nil, namespace)
		r.made, r.applied = made.GetKind(), requests[0].applied
		requests = append(requests, r)
	}
	for _, p := range policies {
		said := map[string]bool{}
		for _, r := range requests {
			for _, d := range p.ask(r) {
				if once := d.Expression + d.Message; d.Made == "" || !said[once] {
					denials, said[once] = append(denials, d), d.Made != ""
				}
			}
		}
	}
	return denials
}

// A request is what the API server would be asked.
type request struct {
	applied bool
	made    string
	*admission.VersionedAttributes
}

func requestOf(o unstructured.Unstructured, old map[string]unstructured.Unstructured, namespace string) request {
	kind := o.GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	object, operation := admitted(o, namespace), admission.Create
	var before runtime.Object // an interface, which must be nil where there is none
	was, there := old[identity(o)]
	if there {
		before, operation = admitted(was, namespace), admission.Update
	}
	return request{applied: !there || !sameContent(o, was), VersionedAttributes: &admission.VersionedAttributes{
		Attributes:      admission.NewAttributesRecord(object, before, kind, object.GetNamespace(), o.GetName(), resource, "", operation, nil, false, nil),
		VersionedObject: object, VersionedOldObject: before, VersionedKind: kind,
	}}
}

// evaluate asks the expressions of a filter. One that compares lists of lists of one list goes by neither the budget nor a
// context: the process bounds it.
func (r request) evaluate(filter cel.Filter, budget int64) ([]cel.EvaluationResult, int64, error) {
	review := cel.CreateAdmissionRequest(r, metav1.GroupVersionResource(r.GetResource()), metav1.GroupVersionKind(r.VersionedKind))
	return filter.ForInput(context.Background(), r.VersionedAttributes, review, cel.OptionalVariableBindings{}, nil, budget)
}

// ask asks one policy, in the order of the API server: which objects, which
// conditions, then the validations.
// https://github.com/kubernetes/kubernetes/blob/v1.31.0/staging/src/k8s.io/apiserver/pkg/admission/plugin/policy/validating/validator.go
func (p *policy) ask(r request) []Denial {
	applies, denies := p.denies(r)
	if !applies || !matched(*p.spec.MatchConstraints, r) {
		return nil
	}
	p.asked = true
	matches, err := p.meets(r)
	if err != nil {
		return []Denial{p.failed(r, denies, "", err)}
	}
	if !matches {
		return nil
	}
	results, left, err := r.evaluate(p.validations, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return []Denial{p.failed(r, denies, "", err)}
	}
	messages, _, err := r.evaluate(p.messages, left)
	if err != nil {
		return []Denial{p.failed(r, denies, "", fmt.Errorf("messageExpression: %w", err))}
	}
	var denials []Denial
	for i, result := range results {
		validation := p.spec.Validations[i]
		switch {
		case result.Error != nil:
			denials = append(denials, p.failed(r, denies, validation.Expression, result.Error))
		case result.EvalResult != celtypes.True:
			d := p.denial(r, denies, validation.Expression)
			d.Message = oneline.Of(message(validation, messages[i]), 500)
			denials = append(denials, d)
		}
	}
	return denials
}

// meets tells whether an object meets the conditions of the policy. One that is
// false decides, whatever the others come to.
func (p *policy) meets(r request) (bool, error) {
	results, _, err := r.evaluate(p.conditions, celconfig.RuntimeCELCostBudgetMatchConditions)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(results, func(result cel.EvaluationResult) bool { return result.EvalResult == celtypes.False }) {
		return false, nil
	}
	for _, result := range results {
		if result.Error != nil {
			return false, result.Error
		}
	}
	return true, nil
}

// failed is the denial of what could not be evaluated.
func (p *policy) failed(r request, denies bool, expression string, err error) Denial {
	d := p.denial(r, denies, expression)
	text := err.Error()
	if _, why, quotes := strings.Cut(text, " resulted in error: "); quotes && expression != "" {
		text = why // the expression stands beside it
	}
	d.Failed, d.Message = true, oneline.Of(text, 500)
	d.Warns = d.Warns || p.spec.FailurePolicy != nil && *p.spec.FailurePolicy == admissionv1.Ignore
	return d
}

func (p *policy) denial(r request, denies bool, expression string) Denial {
	return Denial{
		Policy: p.name, File: p.file, Made: r.made, Applied: r.applied, Warns: !denies,
		Expression: oneline.Of(strings.TrimSpace(expression), 500),
	}
}

// message is what a validation says, in the order of the API server.
func message(v admissionv1.Validation, result cel.EvaluationResult) string {
	if result.Error == nil && result.EvalResult != nil {
		text, _ := result.EvalResult.Value().(string)
		if text = strings.TrimSpace(text); text != "" && len(text) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(text, "\n") {
			return text
		}
	}
	if text := strings.TrimSpace(v.Message); text != "" {
		return text
	}
	return "failed expression: " + strings.TrimSpace(v.Expression)
}
