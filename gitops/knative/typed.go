package knative

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// typed converts a rendered Service to Knative's own type.
func typed(o object) (*servingv1.Service, error) {
	if o == nil {
		return nil, errors.New("there is no Knative Service")
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var service servingv1.Service
	err = json.Unmarshal(raw, &service)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("%s is no valid Knative Service: %s", o.id(), wrongType(raw, wrong))
	case err != nil:
		return nil, fmt.Errorf("%s is no valid Knative Service: %w", o.id(), err)
	}
	return &service, nil
}

// Misread is why no run can read a rendered Knative Service, as values in it have wrong types; nil: it can.
func Misread(o unstructured.Unstructured) error {
	_, err := typed(o.Object)
	return err
}

// wrongType says which field has which wrong type. Its value could be a secret.
func wrongType(raw []byte, wrong *json.UnmarshalTypeError) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	field, _ := fieldAt(decoder, "", wrong.Offset)
	is, _, _ := strings.Cut(wrong.Value, " ") // a number comes with its value
	text := fmt.Sprintf("%s is of the type %s, not %s", strings.TrimPrefix(field, "."), is, typeInJSON(wrong.Type.Kind()))
	if wrong.Type.Kind() == reflect.String && (is == "number" || is == "bool") {
		text += "; put it in quotes"
	}
	return text
}

// typeInJSON is what JSON calls a type of Go's.
func typeInJSON(kind reflect.Kind) string {
	switch kind {
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return "object"
	case reflect.Slice:
		return "array"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "whole number"
	}
	return kind.String()
}

// fieldAt finds the field whose value decoder reads when it reaches an offset.
func fieldAt(decoder *json.Decoder, at string, offset int64) (field string, found bool) {
	token, err := decoder.Token()
	if err != nil || decoder.InputOffset() >= offset {
		return at, true
	}
	opened, isNested := token.(json.Delim)
	if !isNested {
		return "", false
	}
	for i := 0; decoder.More(); i++ {
		below := at + "[" + strconv.Itoa(i) + "]"
		if opened == '{' {
			key, _ := decoder.Token() // More has seen that it is there
			below = at + "." + fmt.Sprint(key)
			if strings.ContainsAny(fmt.Sprint(key), "./") {
				below = fmt.Sprintf("%s[%q]", at, key)
			}
		}
		if field, found := fieldAt(decoder, below, offset); found {
			return field, true
		}
	}
	_, err = decoder.Token() // the end of the list or mapping
	return at, err != nil
}
