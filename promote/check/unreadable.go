package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/acme/knative-promote/internal/oneline"
)

// findUnreadable finds objects that Argo CD cannot read, of whatever kind: one keeps it from generating the
// manifests of the Application, or from comparing any.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/util/argo/resource_tracking.go#L145-L190
func findUnreadable(f Facts) []found {
	var all []found
	for _, o := range objects(f.result()) {
		if steps, why := whyUnread(o); why != "" {
			all = append(all, found{at: f.inObject(o, steps...), values: values{"Object": title(o), "Why": why}})
		}
	}
	return all
}

// whyUnread says in words what Argo CD cannot read of an object, or cannot ask a cluster for, and where that is. Argo CD reads
// null as "".
func whyUnread(o unstructured.Unstructured) (steps []any, why string) {
	version, _ := o.Object["apiVersion"].(string)
	if version == "" {
		return nil, "it has no apiVersion"
	}
	if _, err := runtimeschema.ParseGroupVersion(version); err != nil {
		return []any{"apiVersion"}, "its apiVersion is none of a group and a version"
	}
	metadata, is := o.Object["metadata"].(map[string]any)
	if !is {
		return nil, "its metadata is no mapping"
	}
	for _, field := range []string{"name", "namespace"} {
		name, _ := metadata[field].(string)
		if wrong := path.IsValidPathSegmentName(name); len(wrong) > 0 {
			return []any{"metadata", field}, "its " + field + " " + wrong[0] + ", as a part of an address"
		}
	}
	for _, field := range []string{"labels", "annotations"} {
		texts, is := metadata[field].(map[string]any)
		if !is && metadata[field] != nil {
			return []any{"metadata", field}, "its " + field + " are no mapping"
		}
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			if _, is := texts[key].(string); !is && texts[key] != nil {
				return []any{"metadata", field, key}, readable([]any{"metadata", field, key}) + " is no text"
			}
		}
	}
	return undecoded(metadata)
}

// undecoded is what Kubernetes does not decode of metadata, whose fields are of the same types in every kind: the dry run of a sync
// fails with it.
func undecoded(metadata map[string]any) (steps []any, why string) {
	text, err := json.Marshal(metadata)
	if err == nil {
		err = json.Unmarshal(text, &metav1.ObjectMeta{})
	}
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		field, _, _ := strings.Cut(wrong.Field, ".")
		return []any{"metadata", field}, fmt.Sprintf("metadata.%s is a %s, expected a %s", wrong.Field, wrong.Value, wrong.Type)
	}
	if err != nil {
		return []any{"metadata"}, "its metadata cannot be read: " + oneline.Of(err.Error(), 200)
	}
	return nil, ""
}
