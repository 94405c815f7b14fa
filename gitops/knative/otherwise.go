package knative

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Otherwise says how others, such as Argo CD with a kustomize of its own, render an overlay's objects otherwise,
// by their kinds, names and fields: `Service web: /spec/template/spec/containers/0/image`. Values are left out, which
// may be secret, and so is what a Secret holds, which Argo CD hides. So are labels and annotations, as it adds its
// own, and what others render more.
func Otherwise(s *State, others []unstructured.Unstructured) (all []string) {
	there := map[string][]unstructured.Unstructured{}
	for _, o := range others {
		there[identity(o)] = append(there[identity(o)], o)
	}
	for _, o := range s.Objects() {
		if o.GetName() == "" || o.GetKind() == "Secret" {
			continue
		}
		name, same := o.GetKind()+" "+o.GetName(), there[identity(o)]
		i := slices.IndexFunc(same, func(other unstructured.Unstructured) bool { return sameNamespace(o, other) })
		if i < 0 {
			all = append(all, name+": is missing")
			continue
		}
		for _, path := range differences("", content(o), content(same[i])) {
			all = append(all, name+": "+path)
		}
	}
	return all
}

// identity is what an object has for itself in each namespace.
func identity(o unstructured.Unstructured) string {
	return o.GetAPIVersion() + " " + o.GetKind() + " " + o.GetName()
}

// sameNamespace tells whether two objects may be in one namespace. One that names none gets the Application's.
func sameNamespace(a, b unstructured.Unstructured) bool {
	return a.GetNamespace() == b.GetNamespace() || a.GetNamespace() == "" || b.GetNamespace() == ""
}

// content is what a manifest says beside its metadata, as any reader of JSON has it.
func content(o unstructured.Unstructured) (plain map[string]any) {
	text, err := json.Marshal(o.Object)
	if err != nil || json.Unmarshal(text, &plain) != nil {
		return nil // no manifest that somebody has read is none
	}
	delete(plain, "metadata")
	return plain
}
