package check

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// findSecrets never shows a value. Placeholders that a plugin of Argo CD fills
// in, and values that SOPS has encrypted, are none.
func findSecrets(f Facts) []Finding {
	var found []Finding
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
		found = append(found, Finding{
			Problem:  fmt.Sprintf("overlay %s renders Secret %s with its values", f.Overlay.Overlay, o.GetName()),
			Effect:   "Whoever may read the infra repository reads them, also in its history, in Argo CD's cache and in reports of what a commit changes.",
			Evidence: fmt.Sprintf("%s of the Secret: %s (base64 is no encryption)", field, strings.Join(plain, ", ")),
			Fix: "Change these credentials, since the history keeps them, and let the cluster get them from elsewhere: " +
				"a SealedSecret, an ExternalSecret, or a file that SOPS has encrypted.",
			File: at.File, Line: at.Line,
		})
	}
	return found
}

// plainKeys are the keys of a Secret with readable values, and the field that
// the first of them stands in.
func plainKeys(o unstructured.Unstructured) (field string, plain []string) {
	if _, sops := o.Object["sops"]; sops {
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
