package check

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/promote/event"
)

// findSecrets never shows a value. Placeholders that a plugin of Argo CD fills
// in, and values that SOPS has encrypted, are none.
func findSecrets(f Facts) []event.Finding {
	var found []event.Finding
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
		found = append(found, event.Finding{
			Problem:  fmt.Sprintf("overlay %s renders Secret %s with its values", f.Overlay.Overlay, o.GetName()),
			Effect:   "Whoever may read the infra repository reads them, also in its history, in Argo CD's cache and in reports of what a commit changes.",
			Evidence: fmt.Sprintf("%s of the Secret: %s (base64 is no encryption)", field, strings.Join(plain, ", ")),
			Fix: "Change these credentials, since the history keeps them, and let the cluster get them from elsewhere: " +
				"by a SealedSecret or an ExternalSecret.",
			File: at.File, Line: at.Line,
		})
	}
	return found
}

// sopsField is what SOPS adds to an object that it has encrypted.
const sopsField = "sops"

func encrypted(o unstructured.Unstructured) bool {
	_, sops := o.Object[sopsField]
	return sops
}

// findEncrypted knows that kustomize decrypts nothing, and that Argo CD runs plugins
// only for sources that it does not render with kustomize, or that kustomize would
// have to be asked to run.
func findEncrypted(f Facts) []event.Finding {
	var found []event.Finding
	for _, o := range objects(f.Overlay) {
		if o.GetAPIVersion() != "v1" || o.GetKind() != "Secret" || !encrypted(o) {
			continue
		}
		at := f.where("v1", "Secret", o.GetName(), sopsField)
		found = append(found, event.Finding{
			Problem:  fmt.Sprintf("overlay %s renders Secret %s as SOPS has encrypted it", f.Overlay.Overlay, o.GetName()),
			Effect:   "kustomize does not decrypt it, so the API server gets what is encrypted: it refuses values in data that are not base64, and takes those in stringData as they stand.",
			Evidence: "the field sops of the Secret",
			Fix: "Leave encrypted files to what decrypts them: render them in another source of the Application, by its plugin, or have the cluster get the values by a SealedSecret " +
				"or an ExternalSecret.",
			File: at.File, Line: at.Line,
		})
	}
	return found
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
