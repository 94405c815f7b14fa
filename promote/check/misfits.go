package check

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// A misfit is a field that a type does not have, or whose value it does not take.
type misfit struct {
	steps []any
	is    string // what the value is; empty for a field that is not known
	want  string // what the type takes
}

// rank puts values of the wrong type first: they stop a sync.
func (m misfit) rank() int { return min(len(m.want), 1) }

func typeOf(object runtime.Object) reflect.Type { return reflect.TypeOf(object).Elem() }

// misfits compares a value, as JSON has it, with a type that is written as JSON.
// It finds what strict decoding finds, which ends at the first value of a wrong
// type, does not say where most of those stand, and then hides the unknown
// fields.
func misfits(value any, t reflect.Type, at []any) []misfit {
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
		return structMisfits(entries, fieldsOf(t), at)
	case kind == reflect.Map && isMapping:
		var found []misfit
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			found = append(found, misfits(entries[key], t.Elem(), step(at, key))...)
		}
		return found
	case kind == reflect.Slice && isList:
		var found []misfit
		for i, item := range items {
			found = append(found, misfits(item, t.Elem(), step(at, i))...)
		}
		return found
	}
	return valueMisfit(value, t, at)
}

func structMisfits(entries map[string]any, fields map[string]reflect.Type, at []any) []misfit {
	var found []misfit
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		below := step(at, key)
		if field, known := fields[key]; known {
			found = append(found, misfits(entries[key], field, below)...)
		} else {
			found = append(found, misfit{steps: below})
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

// valueMisfit has a value that is read whole.
func valueMisfit(value any, t reflect.Type, at []any) []misfit {
	raw, err := json.Marshal(value)
	if err != nil || json.Unmarshal(raw, reflect.New(t).Interface()) == nil {
		return nil
	}
	return []misfit{{steps: at, is: wordForValue(value), want: wordForType(t)}}
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
