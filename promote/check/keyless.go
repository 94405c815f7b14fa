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
	var all []found
	for _, o := range comparedByMerging(f) {
		if key := missingKey(o); key != "" {
			all = append(all, found{at: f.inObject(o), values: values{"Object": title(o), "Key": key}})
		}
	}
	return all
}

// comparedByMerging are the objects that Argo CD has yet to compare as its default is.
func comparedByMerging(f Facts) []unstructured.Unstructured {
	if f.sync().compared() {
		return nil
	}
	return slices.DeleteFunc(objects(f.result()), func(o unstructured.Unstructured) bool {
		_, unread := whyUnread(o)
		return unread != "" || bySchema(f, o)
	})
}

// missingKey is the field that an entry of one of an object's lists does not have, as it is written or as a cluster stores it.
// Argo CD compares each entry with each other; here nothing is compared, so that long lists take no time.
func missingKey(o unstructured.Unstructured) (key string) {
	look := func(_ string, entries []any, mergeKey string) {
		for _, e := range entries {
			if entry, ok := e.(map[string]any); ok && key == "" && !has(entry, mergeKey) {
				key = mergeKey
			}
		}
	}
	eachMerged(o, look)
	if stored := stored(o); key == "" && stored != nil {
		eachMerged(*stored, look)
	}
	return key
}

func has(entry map[string]any, key string) bool {
	_, has := entry[key]
	return has
}

// eachMerged visits the lists of an object that Argo CD merges by a key of their entries. A kind of which it has no type has none.
// https://github.com/kubernetes/apimachinery/blob/v0.31.2/pkg/util/strategicpatch/patch.go
func eachMerged(o unstructured.Unstructured, visit func(field string, entries []any, mergeKey string)) {
	typed, err := scheme.Scheme.New(o.GroupVersionKind())
	if err != nil {
		return
	}
	if schema, err := strategicpatch.NewPatchMetaFromStruct(typed); err == nil {
		eachMergedIn(o.Object, schema, visit)
	}
}

func eachMergedIn(object map[string]any, schema strategicpatch.LookupPatchMeta, visit func(field string, entries []any, mergeKey string)) {
	for _, field := range slices.Sorted(maps.Keys(object)) {
		switch value := object[field].(type) {
		case map[string]any:
			if below, _, err := schema.LookupPatchMetadataForStruct(field); err == nil {
				eachMergedIn(value, below, visit)
			}
		case []any:
			below, is, err := schema.LookupPatchMetadataForSlice(field)
			if err != nil || !slices.Contains(is.GetPatchStrategies(), "merge") {
				continue
			}
			visit(field, value, is.GetPatchMergeKey())
			for _, e := range value {
				if entry, ok := e.(map[string]any); ok {
					eachMergedIn(entry, below, visit)
				}
			}
		}
	}
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
