package check

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// findSecrets never shows a value.
func findSecrets(f Facts) []found {
	var all []found
	for _, o := range objects(f.Overlay) {
		if o.GetAPIVersion() != "v1" || o.GetKind() != "Secret" {
			continue
		}
		field, plain := plainKeys(o)
		if len(plain) == 0 {
			continue
		}
		at := f.where("v1", "Secret", o.GetName(), field, plain[0])
		if at.File == f.inKustomization().File {
			at = f.inKustomization("secretGenerator")
		}
		all = append(all, found{at: at, values: values{"Secret": o.GetName(), "Field": field, "Keys": plain}})
	}
	return all
}

// sopsField is what SOPS adds to an object that it has encrypted.
const sopsField = "sops"

func encrypted(o unstructured.Unstructured) bool {
	_, sops := o.Object[sopsField]
	return sops
}

// findEncrypted knows that kustomize decrypts nothing.
func findEncrypted(f Facts) []found {
	var all []found
	for _, o := range objects(f.Overlay) {
		if o.GetAPIVersion() == "v1" && o.GetKind() == "Secret" && encrypted(o) {
			all = append(all, found{at: f.where("v1", "Secret", o.GetName(), sopsField), values: values{"Secret": o.GetName()}})
		}
	}
	return all
}

// plainKeys are the keys of a Secret with readable values, and the field that
// the first of them stands in.
func plainKeys(o unstructured.Unstructured) (field string, plain []string) {
	if encrypted(o) {
		return "", nil
	}
	for _, in := range []string{"stringData", "data"} {
		values, _, _ := unstructured.NestedMap(o.Object, in)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			value, _ := values[key].(string)
			if in == "data" {
				if decoded, err := base64.StdEncoding.DecodeString(value); err == nil {
					value = string(decoded)
				}
			}
			if value == "" || placeholder(value) {
				continue
			}
			if field == "" {
				field = in
			}
			plain = append(plain, key)
		}
	}
	return field, plain
}

// placeholder tells what a plugin is to replace, such as
// <path:secret/data/web#password>, and what SOPS writes.
func placeholder(value string) bool {
	value = strings.TrimSpace(value)
	return strings.HasPrefix(value, "<") && strings.HasSuffix(value, ">") || strings.HasPrefix(value, "ENC[")
}
