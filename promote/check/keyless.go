package check

import (
	"regexp"

	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/argoproj/gitops-engine/pkg/utils/kube/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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

// noMergeKey is how the library of Kubernetes says that an entry has no key. What is before may be a secret.
var noMergeKey = regexp.MustCompile(`does not contain declared merge key: (\w+)$`)

// missingKey is the field that an entry of one of an object's lists does not have, by Argo CD's own comparison
// with the object as it is written, and as a cluster stores it. A kind of which Argo CD has no type has no keys.
func missingKey(o unstructured.Unstructured) string {
	live := []*unstructured.Unstructured{&o}
	if stored := stored(o); stored != nil {
		live = append(live, stored)
	}
	for _, l := range live {
		_, err := diff.Diff(&o, l)
		if err == nil {
			continue
		}
		if key := noMergeKey.FindStringSubmatch(err.Error()); key != nil {
			return key[1]
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
