package knative

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/jsonpointer"
)

// Objects are what the overlay renders, in its order. They share their content
// with the State: nobody may change it.
func (s *State) Objects() []unstructured.Unstructured {
	var all []unstructured.Unstructured
	for _, o := range s.decoded {
		all = append(all, unstructured.Unstructured{Object: o})
	}
	return all
}

// Written is the Service as the overlay renders it, without any of Knative's
// defaults.
func (s *State) Written() (*servingv1.Service, error) {
	service, err := find(s.decoded, s.name)
	if err != nil {
		return nil, err
	}
	return typed(service)
}

// Refusal is why Knative would not take the Service as the overlay renders it
// now; nil when it would.
func (s *State) Refusal() error {
	if err := checkCreate(nil, s, Expected{}); err != nil {
		return err
	}
	service, err := typed(s.service)
	if err != nil {
		return err
	}
	return refusedMetadata(service.ObjectMeta)
}

// PinnedByHand is the revision's name that the template has without the
// tool's patches: somebody wrote it. Empty: nobody did.
func PinnedByHand(s *State) string { return s.plain.text("spec", "template", "metadata", "name") }

// MissingDefaults is the JSON6902 patch that a promotion would add, so that
// the template says itself what Knative would add to it; nil when it says
// everything. Live is as for Route.
func (s *State) MissingDefaults(live *servingv1.Service) ([]byte, error) {
	ops, err := missingDefaults(s.service, s.Revision(), live)
	if err != nil || len(ops) == 0 {
		return nil, err
	}
	return yaml.Marshal(ops)
}

// PatchTarget selects the Service for a patch of the overlay.
func PatchTarget(s *State) (kustomize.Target, error) {
	_, kustomization, err := s.Kustomization()
	if err != nil {
		return kustomize.Target{}, err
	}
	name, err := nameBefore(s, kustomization)
	return kustomize.Target{Group: "serving.knative.dev", Version: "v1", Kind: "Service", Name: name}, err
}

// Changed lists the template's fields that differ from those of a live Service
// whose revision has the same name. What Knative's defaulting explains is no
// difference.
func (s *State) Changed(live *servingv1.Service) ([]string, error) {
	if live == nil || s.Revision() == "" || s.Revision() != live.Spec.Template.Name {
		return nil, nil
	}
	written, err := typed(s.service)
	if err != nil {
		return nil, err
	}
	schemaDefaults(written)
	anyDefault := func(string, any) bool { return true } // a cluster has its own
	return templateDifferences(written.Spec.Template, live.Spec.Template, anyDefault)
}

// Fits tells whether the template may have the name of a live revision: Knative
// takes a revision up again whose spec is the template's. A field that is not
// written is taken for one that never was where the revision has Knative's own
// default there, or what the live Service, whose template is another one's, has.
// Where that is not known the template does not fit: another name is always safe.
// https://github.com/knative/serving/blob/v0.42.2/pkg/reconciler/configuration/configuration.go#L265-L274
func (s *State) Fits(revision *servingv1.Revision, live *servingv1.Service) (bool, error) {
	written, err := typed(s.service)
	if err != nil {
		return false, err
	}
	predicted := written.DeepCopy()
	takeNames(predicted.Spec.Template.Spec.Containers, revision.Spec.Containers)
	takeNames(predicted.Spec.Template.Spec.InitContainers, revision.Spec.InitContainers)
	predicted.SetDefaults(apis.WithinCreate(context.Background()))
	known := []*servingv1.Service{predicted}
	if live != nil && live.Status.LatestCreatedRevisionName != revision.Name {
		known = append(known, live)
	}
	var defaults []object
	for _, service := range known {
		fields, err := data(service)
		if err != nil {
			return false, err
		}
		defaults = append(defaults, fields)
	}
	schemaDefaults(written)
	isDefault := func(at string, value any) bool {
		return slices.ContainsFunc(defaults, func(o object) bool {
			found, there := o.value(at)
			return there && equal(found, value)
		})
	}
	found, err := templateDifferences(servingv1.RevisionTemplateSpec{Spec: written.Spec.Template.Spec}, servingv1.RevisionTemplateSpec{Spec: revision.Spec}, isDefault)
	return len(found) == 0, err
}

// templateDifferences are the fields in which two templates differ, but for
// what Knative's defaulting may have added to the live one: fields that can have
// a default, with a value that may be one.
func templateDifferences(written, live servingv1.RevisionTemplateSpec, isDefault func(at string, value any) bool) ([]string, error) {
	is, err := data(written)
	if err != nil {
		return nil, err
	}
	was, err := data(live)
	if err != nil {
		return nil, err
	}
	was["spec"] = withoutDefaults(templateSpec, is["spec"], was["spec"], isDefault)
	return differences("/spec/template", was, is), nil
}

// withoutDefaults is the live value without the fields that Knative may have
// given a default, where the written value does not have them or has them
// empty.
func withoutDefaults(at string, written, live any, isDefault func(string, any) bool) any {
	switch live := live.(type) {
	case map[string]any:
		written, _ := written.(map[string]any)
		kept := map[string]any{}
		for key, value := range live {
			below := at + jsonpointer.Join(key)
			if _, mayBe := known(below, value); mayBe && empty(written[key]) && isDefault(below, value) {
				value = written[key]
			} else {
				value = withoutDefaults(below, written[key], value, isDefault)
			}
			if _, there := written[key]; there || value != nil && !empty(value) {
				kept[key] = value
			}
		}
		return kept
	case []any:
		written, _ := written.([]any)
		if len(written) != len(live) {
			return live
		}
		kept := make([]any, len(live))
		for i := range live {
			kept[i] = withoutDefaults(at+jsonpointer.Join(i), written[i], live[i], isDefault)
		}
		return kept
	}
	return live
}

// empty tells whether Go's types leave a value out, or write it as nothing.
func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case bool:
		return !value
	case float64:
		return value == 0
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return false
}

// data is a value as JSON shows it.
func data(value any) (map[string]any, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	return m, json.Unmarshal(raw, &m)
}

// A Respelling is a field of the Service that never looks in the cluster as
// the overlay writes it.
type Respelling struct {
	Path   string // JSON pointer
	Git    any    // as written; what Knative's types do not have is not shown
	Stored any    // as the cluster gives it back; nil: not at all
	Empty  bool   // the field is written without a value, so that nothing is lost
}

// Unknown tells whether no Knative Service has the field, as far as is known here.
func (r Respelling) Unknown() bool { return r.Stored == nil && !r.Empty }

// Respellings are the fields that Knative stores otherwise than the overlay
// writes them, such as 1 for 1000m, or not at all. Its webhook reads every
// Service that is written into its own types and writes it anew, even where it
// has nothing to add, so that Argo CD sees the difference after every sync.
// https://github.com/knative/pkg/blob/4355f0c7360827829af8d2b14a1866b88ed70d22/webhook/resourcesemantics/defaulting/defaulting.go#L281-L291
func Respellings(s *State) ([]Respelling, error) {
	written, err := typed(s.service)
	if err != nil {
		return nil, err
	}
	stored, err := data(written)
	if err != nil {
		return nil, err
	}
	metadata := respellings("/metadata", s.service.at("metadata"), stored["metadata"])
	return append(metadata, respellings("/spec", s.service.at("spec"), stored["spec"])...), nil
}

// Unlike lists the fields of the Service's metadata and spec that the overlay
// writes and that are otherwise in the cluster.
func Unlike(s *State, live *servingv1.Service) ([]string, error) {
	is, err := data(live)
	if err != nil {
		return nil, err
	}
	var fields []string
	for _, part := range []string{"metadata", "spec"} {
		for _, r := range respellings("/"+part, s.service.at(part), is[part]) {
			fields = append(fields, r.Path)
		}
	}
	return fields, nil
}

// Annotation is one of the Service's own annotations as the overlay renders it.
func Annotation(s *State, key string) (value string, there bool) {
	value, there = s.service.at("metadata", "annotations", key).(string)
	return value, there
}

func respellings(at string, git, stored any) []Respelling {
	switch git := git.(type) {
	case map[string]any:
		stored, ok := stored.(map[string]any)
		if !ok {
			break
		}
		var found []Respelling
		for _, key := range slices.Sorted(maps.Keys(git)) {
			below := at + jsonpointer.Join(key)
			value, there := stored[key]
			switch {
			case there:
				found = append(found, respellings(below, git[key], value)...)
			case key == "creationTimestamp" && git[key] == nil: // Argo CD overlooks it
			case empty(git[key]):
				found = append(found, Respelling{Path: below, Git: git[key], Empty: true})
			default:
				found = append(found, Respelling{Path: below})
			}
		}
		return found
	case []any:
		if stored, ok := stored.([]any); ok && len(stored) == len(git) {
			var found []Respelling
			for i := range git {
				found = append(found, respellings(at+jsonpointer.Join(i), git[i], stored[i])...)
			}
			return found
		}
	}
	if equal(git, stored) {
		return nil
	}
	return []Respelling{{Path: at, Git: git, Stored: stored}}
}
