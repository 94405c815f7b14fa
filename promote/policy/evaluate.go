package policy

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

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
	Expression string // of the validation; empty where the whole policy could not be evaluated
	Message    string // one line, which may quote what is in the object
	Applied    bool   // the object is new or changes; else it stands as before
	Warns      bool   // its bindings do not deny, or it could not be evaluated and failurePolicy is Ignore
	Failed     bool   // the expression could not be evaluated
}

// Repeats tells whether it is of the same validation and object as an earlier
// one, as that of a commit and of the next one are. Where the object is applied
// by the later commit alone it is another.
func (d Denial) Repeats(earlier Denial) bool {
	return d.Policy == earlier.Policy && d.Expression == earlier.Expression &&
		identity(d.Object) == identity(earlier.Object) && (earlier.Applied || !d.Applied)
}

// Evaluate asks all policies about the objects of a render. Each is an update of
// the object of the same kind and name that was rendered before, or else new.
// Objects without a namespace are in the given one. The error is the context's, or ErrMemory.
func (s Set) Evaluate(ctx context.Context, before, after []unstructured.Unstructured, namespace string) ([]Denial, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go boundMemory(ctx, stop)
	var denials []Denial
	old := map[string]unstructured.Unstructured{}
	for _, o := range before {
		old[identity(o)] = o
	}
	for _, o := range after {
		request := requestOf(o, old, namespace)
		for _, p := range s.policies {
			found := p.ask(ctx, request)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			denials = append(denials, found...)
		}
	}
	return denials, nil
}

func identity(o unstructured.Unstructured) string {
	kind := o.GroupVersionKind().GroupKind()
	return fmt.Sprint(kind, " ", o.GetNamespace(), " ", o.GetName(), " ", o.GetGenerateName())
}

// ErrMemory says that an expression has taken too much memory, which it may go on with: who asked must end soon.
var ErrMemory = errors.New("an expression takes over 512 MiB of memory")

// boundMemory ends what is evaluated where the heap grows by too much meanwhile: what expressions make of a value that
// has one other a million times is counted by nobody.
func boundMemory(ctx context.Context, end context.CancelCauseFunc) {
	const most = 512 << 20
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	for ticks := time.Tick(10 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			if metrics.Read(sample); sample[0].Value.Uint64() > before+most {
				end(ErrMemory)
			}
		}
	}
}

// A request is what the API server would be asked.
type request struct {
	object  unstructured.Unstructured // as it is rendered
	applied bool
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
	return request{object: o, applied: !there || !sameContent(o, was), VersionedAttributes: &admission.VersionedAttributes{
		Attributes:      admission.NewAttributesRecord(object, before, kind, object.GetNamespace(), o.GetName(), resource, "", operation, nil, false, nil),
		VersionedObject: object, VersionedOldObject: before, VersionedKind: kind,
	}}
}

// answers are the results of a filter's expressions, and what is left of the budget.
type answers struct {
	results []cel.EvaluationResult
	left    int64
	err     error
}

// evaluate asks the expressions of a filter. One that compares lists of lists of one list goes by neither the budget nor the
// context: it is left at work, and the error is the context's.
func (r request) evaluate(ctx context.Context, filter cel.Filter, budget int64) ([]cel.EvaluationResult, int64, error) {
	review := cel.CreateAdmissionRequest(r, metav1.GroupVersionResource(r.GetResource()), metav1.GroupVersionKind(r.VersionedKind))
	done := make(chan answers, 1)
	go func() {
		var a answers
		defer func() {
			if p := recover(); p != nil { // which nobody above a goroutine makes an error of
				a.err = fmt.Errorf("evaluating it has failed: %v", p)
			}
			done <- a
		}()
		a.results, a.left, a.err = filter.ForInput(ctx, r.VersionedAttributes, review, cel.OptionalVariableBindings{}, nil, budget)
	}()
	select {
	case a := <-done:
		return a.results, a.left, a.err
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
}

// ask asks one policy, in the order of the API server: which objects, which
// conditions, then the validations.
// https://github.com/kubernetes/kubernetes/blob/v1.31.0/staging/src/k8s.io/apiserver/pkg/admission/plugin/policy/validating/validator.go
func (p *policy) ask(ctx context.Context, r request) []Denial {
	applies, denies := p.denies(r)
	if !applies || !matched(*p.spec.MatchConstraints, r) {
		return nil
	}
	matches, err := p.meets(ctx, r)
	if err != nil {
		return []Denial{p.failed(r, denies, "", err)}
	}
	if !matches {
		return nil
	}
	results, left, err := r.evaluate(ctx, p.validations, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return []Denial{p.failed(r, denies, "", err)}
	}
	messages, _, err := r.evaluate(ctx, p.messages, left)
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
func (p *policy) meets(ctx context.Context, r request) (bool, error) {
	results, _, err := r.evaluate(ctx, p.conditions, celconfig.RuntimeCELCostBudgetMatchConditions)
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
		Policy: p.name, File: p.file, Object: r.object, Applied: r.applied, Warns: !denies,
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
