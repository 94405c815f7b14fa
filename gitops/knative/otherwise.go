package knative

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Both is what this program renders of an overlay at a commit, and what another one does, such as Argo CD with a kustomize of
// its own. Objects that name no namespace are in Namespace.
type Both struct {
	Ours, Others []unstructured.Unstructured
	Namespace    string
}

// Otherwise says how others render an overlay's objects otherwise, by their kinds, names and fields:
// `Service web: /spec/template/spec/containers/0/image`. Values are left out, which may be secret, and so is what a Secret
// holds, which Argo CD hides. So are labels and annotations, as it adds its own, and what others render more.
func Otherwise(at Both) (all []string) {
	for _, p := range at.pairings() {
		if p.ours != nil && p.ours.GetKind() != "Secret" {
			all = append(all, p.otherwise(content)...)
		}
	}
	return all
}

// OtherwiseSince says the same of the objects that a change alters, in what either renders. Of these, it
// is also what others render more, and all metadata, but for labels and annotations of Argo CD and those
// that others have added before to any object.
func OtherwiseSince(was, is Both) (all []string) {
	known, own := map[string][]pairing{}, []string{"app.kubernetes.io/instance", "argocd.argoproj.io/tracking-id"}
	for _, p := range was.pairings() {
		known[p.identity()] = append(known[p.identity()], p)
		own = append(own, p.added()...)
	}
	for _, p := range is.pairings() {
		if !slices.ContainsFunc(known[p.identity()], p.same) {
			all = append(all, p.otherwise(func(o unstructured.Unstructured) map[string]any { return marked(o, own, is.Namespace) })...)
		}
	}
	return all
}

// pairing is one object of an overlay; nil: one of the two does not render it.
type pairing struct{ ours, others *unstructured.Unstructured }

// pairings are all objects, those that others render more behind the rest.
func (b Both) pairings() (all []pairing) {
	left := map[string][]*unstructured.Unstructured{}
	for i := range b.Others {
		name := identity(b.Others[i])
		left[name] = append(left[name], &b.Others[i])
	}
	for i := range b.Ours {
		p, name := pairing{ours: &b.Ours[i]}, identity(b.Ours[i])
		at := slices.IndexFunc(left[name], func(other *unstructured.Unstructured) bool { return sameNamespace(b.Ours[i], *other) })
		if at >= 0 {
			p.others = left[name][at]
			left[name] = slices.Delete(left[name], at, at+1)
		}
		all = append(all, p)
	}
	for i := range b.Others {
		if slices.Contains(left[identity(b.Others[i])], &b.Others[i]) {
			all = append(all, pairing{others: &b.Others[i]})
		}
	}
	return all
}

// one is either of the two.
func (p pairing) one() *unstructured.Unstructured { return cmp.Or(p.ours, p.others) }

func (p pairing) identity() string { return identity(*p.one()) }

// same tells whether two commits have the same.
func (p pairing) same(other pairing) bool { return reflect.DeepEqual(p, other) }

// added are the labels and annotations that others render more.
func (p pairing) added() (keys []string) {
	if p.ours == nil || p.others == nil {
		return nil
	}
	for _, pick := range []func(*unstructured.Unstructured) map[string]string{(*unstructured.Unstructured).GetLabels, (*unstructured.Unstructured).GetAnnotations} {
		for key := range pick(p.others) {
			if _, there := pick(p.ours)[key]; !there {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// otherwise says what is not alike of what matters in an object.
func (p pairing) otherwise(matters func(unstructured.Unstructured) map[string]any) (all []string) {
	name := p.one().GetKind() + " " + cmp.Or(p.one().GetName(), p.one().GetGenerateName())
	switch {
	case p.others == nil:
		return []string{name + ": is missing"}
	case p.ours == nil: // whatever others have read to name it
		return []string{p.one().GetKind() + ": one is there in addition"}
	}
	for _, path := range differences("", matters(*p.ours), matters(*p.others)) {
		all = append(all, name+": "+path)
	}
	return all
}

// identity is what an object has for itself in each namespace.
func identity(o unstructured.Unstructured) string {
	return o.GetAPIVersion() + " " + o.GetKind() + " " + o.GetName() + " " + o.GetGenerateName()
}

// sameNamespace tells whether two objects may be in one namespace. One that names none gets the Application's.
func sameNamespace(a, b unstructured.Unstructured) bool {
	return a.GetNamespace() == b.GetNamespace() || a.GetNamespace() == "" || b.GetNamespace() == ""
}

// plainOf is a copy of a manifest, as any reader of JSON has it.
func plainOf(o unstructured.Unstructured) (plain map[string]any) {
	text, err := json.Marshal(o.Object)
	if err != nil || json.Unmarshal(text, &plain) != nil {
		return nil // no manifest that somebody has read is none
	}
	return plain
}

// content is what a manifest says beside its metadata.
func content(o unstructured.Unstructured) map[string]any {
	plain := plainOf(o)
	delete(plain, "metadata")
	return plain
}

// marked is a manifest but for some labels and annotations, and without what Argo CD hides of a Secret.
func marked(o unstructured.Unstructured, but []string, namespace string) map[string]any {
	plain := plainOf(o)
	metadata, is := plain["metadata"].(map[string]any)
	if !is {
		return plain
	}
	for _, name := range []string{"labels", "annotations"} {
		marks, _ := metadata[name].(map[string]any)
		if marks == nil {
			marks = map[string]any{}
		}
		maps.DeleteFunc(marks, func(key string, _ any) bool { return slices.Contains(but, key) })
		metadata[name] = marks
	}
	metadata["namespace"] = cmp.Or(o.GetNamespace(), namespace)
	if metadata["creationTimestamp"] == nil {
		delete(metadata, "creationTimestamp") // which tools write that make manifests
	}
	if o.GetKind() == "Secret" {
		delete(plain, "data")
		delete(plain, "stringData")
	}
	return plain
}
