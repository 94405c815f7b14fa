package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// TestMismatchesAgree puts a field that nobody knows into every mapping of objects
// that have all the fields of their kind. The API server's strict decoder must
// name the same fields.
func TestMismatchesAgree(t *testing.T) {
	t.Parallel()
	decoder := serializer.NewCodecFactory(knownTypes(), serializer.EnableStrict).UniversalDeserializer()
	for _, kind := range []metav1.GroupVersionKind{
		{Group: "serving.knative.dev", Version: "v1", Kind: "Service"}, {Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: "batch", Version: "v1", Kind: "CronJob"}, {Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}, {Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
		{Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "PersistentVolume"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
	} {
		t.Run(kind.Kind, func(t *testing.T) {
			t.Parallel()
			object := whole(t, kind)
			for i, mapping := range mappings(object) {
				mapping["nobodyKnows"] = "x"
				want, typed := strictly(t, decoder, object)
				got := wrongFields(unstructured.Unstructured{Object: object})
				delete(mapping, "nobodyKnows")
				if !typed { // a mapping of other values than strings
					if !slices.ContainsFunc(got, func(m mismatch) bool { return m.want != "" }) {
						t.Errorf("mapping %d: no wrong type is found", i)
					}
					continue
				}
				var names []string
				for _, m := range got {
					names = append(names, readable(m.steps))
				}
				if diff := cmp.Diff(want, names); diff != "" {
					t.Errorf("mapping %d: fields that are not known (-strict decoder +mismatches):\n%s", i, diff)
				}
			}
		})
	}
}

// strictly are the fields that the decoder does not know. Typed is false where a
// value has the wrong type.
func strictly(t *testing.T, decoder runtime.Decoder, object map[string]any) (unknown []string, typed bool) {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = decoder.Decode(raw, nil, nil)
	if err != nil && !runtime.IsStrictDecodingError(err) {
		return nil, false
	}
	for _, match := range regexp.MustCompile(`unknown field "([^"]+)"`).FindAllStringSubmatch(fmt.Sprint(err), -1) {
		unknown = append(unknown, match[1])
	}
	return unknown, true
}

// whole is an object of a kind with all of its fields.
func whole(t *testing.T, kind metav1.GroupVersionKind) map[string]any {
	t.Helper()
	object, err := knownTypes().New(unstructuredOf(kind).GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	fill(reflect.ValueOf(object).Elem(), 0)
	object.GetObjectKind().SetGroupVersionKind(unstructuredOf(kind).GroupVersionKind())
	raw, errRaw := json.Marshal(object)
	var content map[string]any
	if err := errors.Join(errRaw, json.Unmarshal(raw, &content)); err != nil {
		t.Fatal(err)
	}
	return content
}

// unstructuredOf is an empty object of a kind.
func unstructuredOf(kind metav1.GroupVersionKind) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": strings.TrimPrefix(kind.Group+"/"+kind.Version, "/"), "kind": kind.Kind}}
}

// fill gives a value and what is in it something other than nothing.
func fill(v reflect.Value, depth int) {
	if _, readsItself := v.Addr().Interface().(json.Unmarshaler); readsItself || depth > 20 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	}
}

// mappings are all mappings of a value.
func mappings(value any) []map[string]any {
	var all []map[string]any
	switch value := value.(type) {
	case map[string]any:
		all = append(all, value)
		for _, v := range value {
			all = append(all, mappings(v)...)
		}
	case []any:
		for _, v := range value {
			all = append(all, mappings(v)...)
		}
	}
	return all
}
