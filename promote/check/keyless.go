package check

import (
	"maps"
	"slices"

	"github.com/argoproj/gitops-engine/pkg/utils/kube/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// findKeyless finds objects that Argo CD cannot compare as its default is: by merging, for which an entry of
// a list needs its key. The cluster may take an entry without, such as a reference without a name.
func findKeyless(f Facts) []found {
	if f.sync().compared() {
		return nil
	}
	var all []found
	for _, o := range objects(f.result()) {
		if _, unread := whyUnread(o); unread != "" || bySchema(f, o) {
			continue
		}
		if key := missingKey(o); key != "" {
			all = append(all, found{at: f.inObject(o), values: values{"Object": title(o), "Key": key}})
		}
	}
	return all
}

// missingKey is the field that an entry of one of an object's lists does not have, as it is written or as a cluster stores it. A kind of which
// Argo CD has no type has no keys. Argo CD compares each entry with each other; here nothing is compared, so that long lists take no time.
func missingKey(o unstructured.Unstructured) string {
	typed, err := scheme.Scheme.New(o.GroupVersionKind())
	if err != nil {
		return ""
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return ""
	}
	if key := keyMissingIn(o.Object, schema); key != "" {
		return key
	}
	if stored := stored(o); stored != nil {
		return keyMissingIn(stored.Object, schema)
	}
	return ""
}

// keyMissingIn looks in the lists that are merged by a key, at any depth.
// https://github.com/kubernetes/apimachinery/blob/v0.31.2/pkg/util/strategicpatch/patch.go
func keyMissingIn(object map[string]any, schema strategicpatch.LookupPatchMeta) string {
	for _, field := range slices.Sorted(maps.Keys(object)) {
		switch value := object[field].(type) {
		case map[string]any:
			if below, _, err := schema.LookupPatchMetadataForStruct(field); err == nil {
				if key := keyMissingIn(value, below); key != "" {
					return key
				}
			}
		case []any:
			below, is, err := schema.LookupPatchMetadataForSlice(field)
			if err != nil || !slices.Contains(is.GetPatchStrategies(), "merge") {
				continue
			}
			if key := keyMissingInEach(value, below, is.GetPatchMergeKey()); key != "" {
				return key
			}
		}
	}
	return ""
}

func keyMissingInEach(entries []any, schema strategicpatch.LookupPatchMeta, mergeKey string) string {
	for _, e := range entries {
		entry, ok := e.(map[string]any)
		if !ok {
			continue
		}
		if _, has := entry[mergeKey]; !has {
			return mergeKey
		}
		if key := keyMissingIn(entry, schema); key != "" {
			return key
		}
	}
	return ""
}

// stored is an object through its type; nil: there is none, or it does not take the object.
func stored(o unstructured.Unstructured) *unstructured.Unstructured {
	typed, err := scheme.Scheme.New(o.GroupVersionKind())
	if err != nil {
		return nil
	}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed) != nil {
		return nil
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil
	}
	return &unstructured.Unstructured{Object: object}
}
