package condition

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/expr-lang/expr/types"
)

// Phase is what a measurement, a metric or an analysis came to. The values are
// those of Argo Rollouts, and NoData.
type Phase string

// The phases.
const (
	Successful   Phase = "Successful"
	Failed       Phase = "Failed"
	Error        Phase = "Error"
	Inconclusive Phase = "Inconclusive"
	NoData       Phase = "NoData" // there was nothing to look at; Argo Rollouts has no such phase
)

// Conditions are the two conditions of a metric. Empty ones are not asked.
type Conditions struct {
	Success, Failure string
}

// Verdict is what the conditions say of one result.
type Verdict struct {
	Phase  Phase
	Reason string // in words, unless the phase follows from a value alone
	// Rollouts is what Argo Rollouts makes of the same result.
	Rollouts Phase
}

// Judge says what the conditions make of a result: nil, a bool, a number, a text,
// a list or an object, as encoding/json or a metrics system gives them.
func (c Conditions) Judge(ctx context.Context, result any) Verdict {
	phase, err := c.phase(ctx, result)
	v := Verdict{Phase: phase, Rollouts: phase}
	if err != nil {
		v.Reason = err.Error()
	}
	if what := lack(result); what != "" && !c.asksFor(what) {
		v.Phase, v.Reason = NoData, string(what)
	}
	return v
}

// phase is the one of Argo Rollouts.
func (c Conditions) phase(ctx context.Context, result any) (Phase, error) {
	success, err := c.holds(ctx, "successCondition", c.Success, result)
	if err != nil {
		return Error, err
	}
	failure, err := c.holds(ctx, "failureCondition", c.Failure, result)
	switch {
	case err != nil:
		return Error, err
	case c.Success == "" && c.Failure == "":
		return Successful, nil
	case c.Success == "" && !failure, success && !failure:
		return Successful, nil
	case c.Failure == "", failure:
		return Failed, nil
	}
	return Inconclusive, nil
}

func (c Conditions) holds(ctx context.Context, field, condition string, result any) (bool, error) {
	if condition == "" {
		return false, nil
	}
	ok, err := evaluate(ctx, condition, result)
	if err != nil {
		return false, fmt.Errorf("%s %q: %w", field, condition, err)
	}
	return ok, nil
}

// Check looks for what is wrong with the conditions before there is a result.
// The samples are results of every type that the provider gives; a condition must
// fit one of them. Without samples the type is not known.
func (c Conditions) Check(samples ...any) []error {
	var all []error
	for _, condition := range []struct{ field, text string }{
		{"successCondition", c.Success}, {"failureCondition", c.Failure},
	} {
		if condition.text == "" {
			continue
		}
		if err := fits(condition.text, samples); err != nil {
			all = append(all, fmt.Errorf("%s: %q: %w", condition.field, condition.text, err))
		}
	}
	return all
}

// fits is nil if the condition can be asked of one of the samples.
func fits(condition string, samples []any) error {
	if len(samples) == 0 {
		return compiles(condition, types.Any)
	}
	var first error
	for _, sample := range samples {
		err := compiles(condition, types.TypeOf(sample))
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return first
}

// A missing is what a result lacks.
type missing string

const (
	nothing missing = "the answer has no value"
	empty   missing = "the answer is empty: there is no such series or no data"
	notANum missing = "the value is NaN: there were no requests to divide by, or no data"
)

// lack says what keeps a result from being data, if anything does.
func lack(result any) missing {
	switch r := result.(type) {
	case nil:
		return nothing
	case float64:
		if math.IsNaN(r) {
			return notANum
		}
	case string:
		if r == "" {
			return empty
		}
	case map[string]any:
		if len(r) == 0 {
			return empty
		}
	case []any:
		if len(r) == 0 {
			return empty
		}
	case []float64:
		return lackOf(r)
	}
	return ""
}

func lackOf(values []float64) missing {
	if len(values) == 0 {
		return empty
	}
	for _, v := range values {
		if math.IsNaN(v) {
			return notANum
		}
	}
	return ""
}
