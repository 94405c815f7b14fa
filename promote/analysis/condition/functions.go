package condition

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// functions are those that Argo Rollouts gives to a condition. isNil and default
// look at the whole result, whatever they are given.
func functions(result any) map[string]any {
	return map[string]any{
		"asInt":   asInt,
		"asFloat": asFloat,
		"isNaN":   math.IsNaN,
		"isInf":   func(f float64) bool { return math.IsInf(f, 0) },
		"isNil":   func(any) bool { return result == nil },
		"default": func(_, otherwise any) any {
			if result == nil {
				return otherwise
			}
			return result
		},
	}
}

func asInt(in any) (int64, error) {
	if text, ok := in.(string); ok {
		return strconv.ParseInt(text, 10, 64)
	}
	switch v := reflect.ValueOf(in); {
	case v.IsValid() && v.CanFloat():
		return int64(v.Float()), nil
	case v.IsValid() && v.CanInt():
		return v.Int(), nil
	}
	return 0, fmt.Errorf("asInt: expected a number or a text, but there is %T", in)
}

func asFloat(in any) (float64, error) {
	if text, ok := in.(string); ok {
		return strconv.ParseFloat(text, 64)
	}
	switch v := reflect.ValueOf(in); {
	case v.IsValid() && v.CanFloat():
		return v.Float(), nil
	case v.IsValid() && v.CanInt():
		return float64(v.Int()), nil
	}
	return 0, fmt.Errorf("asFloat: expected a number or a text, but there is %T", in)
}
