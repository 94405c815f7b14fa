package check

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// A mismatch is a field that a type does not have, or whose value it does not take.
type mismatch struct {
	steps []any
	is    string // what the value is; empty for a field that is not known
	want  string // what the type takes
}

// rank puts values of the wrong type first: they stop a sync.
func (m mismatch) rank() int { return min(len(m.want), 1) }

func typeOf(object runtime.Object) reflect.Type { return reflect.TypeOf(object).Elem() }

// mismatches compares a value, as JSON has it, with a type that is written as JSON.
// It finds what strict decoding finds, which ends at the first value of a wrong
// type, does not say where most of those stand, and then hides the unknown
// fields.
func mismatches(value any, t reflect.Type, at []any) []mismatch {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if value == nil {
		return nil
	}
	unmarshaler := reflect.TypeFor[json.Unmarshaler]()
	kind := t.Kind()
	if reflect.PointerTo(t).Implements(unmarshaler) || kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		kind = reflect.Invalid // it reads itself
	}
	entries, isMapping := value.(map[string]any)
	items, isList := value.([]any)
	switch {
	case kind == reflect.Interface:
		return nil
	case kind == reflect.Struct && isMapping:
		return structMismatches(entries, fieldsOf(t), at)
	case kind == reflect.Map && isMapping:
		var found []mismatch
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			found = append(found, mismatches(entries[key], t.Elem(), step(at, key))...)
		}
		return found
	case kind == reflect.Slice && isList:
		var found []mismatch
		for i, item := range items {
			found = append(found, mismatches(item, t.Elem(), step(at, i))...)
		}
		return found
	}
	return valueMismatch(value, t, at)
}

func structMismatches(entries map[string]any, fields map[string]reflect.Type, at []any) []mismatch {
	var found []mismatch
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		below := step(at, key)
		if field, known := fields[key]; known {
			found = append(found, mismatches(entries[key], field, below)...)
		} else {
			found = append(found, mismatch{steps: below})
		}
	}
	return found
}

func step(at []any, key any) []any { return append(slices.Clip(slices.Clone(at)), key) }

// fieldsOf are the fields of a struct by their names in JSON. Those of a struct
// that is written inline are its own.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported() && !field.Anonymous:
		case name == "" && (field.Anonymous || strings.Contains(options, "inline")):
			inline := field.Type
			if inline.Kind() == reflect.Pointer {
				inline = inline.Elem()
			}
			maps.Copy(fields, fieldsOf(inline))
		case name == "":
			fields[field.Name] = field.Type
		default:
			fields[name] = field.Type
		}
	}
	return fields
}

// valueMismatch has a value that is read whole.
func valueMismatch(value any, t reflect.Type, at []any) []mismatch {
	raw, err := json.Marshal(value)
	if err != nil || json.Unmarshal(raw, reflect.New(t).Interface()) == nil {
		return nil
	}
	return []mismatch{{steps: at, is: wordForValue(value), want: wordForType(t)}}
}

// wordForValue is what a value is, without showing it.
func wordForValue(value any) string {
	switch value.(type) {
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// wordForType is what a type takes.
func wordForType(t reflect.Type) string {
	switch t.String() {
	case "resource.Quantity":
		return "a quantity such as 500m or 1Gi"
	case "intstr.IntOrString":
		return "a whole number or a string"
	case "v1.Time", "v1.MicroTime":
		return "a time such as 2026-01-02T15:04:05Z"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string in base64"
		}
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a whole number"
}
