package knative

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/acme/knative-promote/internal/jsonpointer"
	"github.com/acme/knative-promote/internal/oneline"
)

// object is one rendered Kubernetes object as data.
type object map[string]any

const servingAPI = "serving.knative.dev/v1"

// id names an object as people do: Kind/name, with the namespace where it has
// one.
func (o object) id() string {
	kind, _ := o["kind"].(string)
	name := ""
	if is := o.at("metadata", "name"); is != nil {
		name = fmt.Sprint(is) // kustomize takes a number too
	}
	if ns := o.text("metadata", "namespace"); ns != "" {
		return kind + "/" + ns + "/" + name
	}
	return kind + "/" + name
}

// key tells objects apart whose id reads the same, such as a Service and a
// Knative Service.
func (o object) key() string { return fmt.Sprint(o["apiVersion"], " ", o.id()) }

func (o object) isKnativeService() bool {
	return o["apiVersion"] == servingAPI && o["kind"] == "Service"
}

// at returns the value below the keys, nil when a part of the way is missing.
func (o object) at(keys ...string) any {
	var v any = map[string]any(o)
	for _, key := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// withTemplateMetadata is the object with metadata in its template, if only an
// empty one.
func (o object) withTemplateMetadata() object {
	spec, _ := o.at("spec").(map[string]any)
	template, _ := o.at("spec", "template").(map[string]any)
	if template == nil || template["metadata"] != nil {
		return o
	}
	o, spec, template = maps.Clone(o), maps.Clone(spec), maps.Clone(template)
	o["spec"], spec["template"], template["metadata"] = spec, template, map[string]any{}
	return o
}

// has tells whether there is a value at a JSON pointer.
func (o object) has(pointer string) bool {
	_, there := o.value(pointer)
	return there
}

// value is what there is at a JSON pointer.
func (o object) value(pointer string) (value any, there bool) {
	var v any = map[string]any(o)
	for _, step := range jsonpointer.Split(pointer) {
		switch in := v.(type) {
		case map[string]any:
			value, ok := in[step]
			if !ok {
				return nil, false
			}
			v = value
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func (o object) text(keys ...string) string {
	s, _ := o.at(keys...).(string)
	return s
}

// decode reads a multi-document render.
func decode(manifest []byte) ([]object, error) {
	var objects []object
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(string(manifest)), 4096)
	for {
		var o object
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the render: %w", err)
		}
		if o != nil {
			objects = append(objects, o)
		}
	}
}

// withoutNotes are the objects without what kustomize notes about its own work,
// with buildMetadata: [transformerAnnotations]. An edit changes it in every
// object.
func withoutNotes(objects []object) []object {
	var plain []object
	for _, o := range objects {
		if metadata, ok := o.at("metadata").(map[string]any); ok {
			annotations, _ := metadata["annotations"].(map[string]any)
			o, metadata, annotations = maps.Clone(o), maps.Clone(metadata), maps.Clone(annotations)
			delete(annotations, "alpha.config.kubernetes.io/transformations")
			if metadata["annotations"] = annotations; len(annotations) == 0 {
				delete(metadata, "annotations")
			}
			o["metadata"] = metadata
		}
		plain = append(plain, o)
	}
	return plain
}

// ErrNoService is an overlay that renders, but not the Service that is looked for.
var ErrNoService = errors.New("it renders no Knative Service")

// find returns the Knative Service of this name. An empty name stands for the
// only one there is.
func find(objects []object, name string) (object, error) {
	var services, names, old []string
	var found []object
	for _, o := range objects {
		if version, ours := strings.CutPrefix(o.text("apiVersion"), "serving.knative.dev/"); ours && o["kind"] == "Service" && version != "v1" {
			old = append(old, fmt.Sprintf("%s (%s)", o.id(), o.text("apiVersion")))
		}
		if !o.isKnativeService() {
			continue
		}
		services = append(services, o.id())
		names = append(names, o.text("metadata", "name"))
		if name == "" || o.text("metadata", "name") == name {
			found = append(found, o)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(services) == 0 && len(old) > 0:
		return nil, fmt.Errorf("it renders %s, of a version that Knative Serving does not have any more; write apiVersion: %s", strings.Join(old, ", "), servingAPI)
	case len(services) == 0:
		return nil, fmt.Errorf("%w (serving.knative.dev/v1)%s", ErrNoService, only(objects))
	case name == "" || len(found) > 1:
		return nil, fmt.Errorf("it renders several Knative Services: %s; a promotion moves one that its name alone identifies", strings.Join(services, ", "))
	}
	slices.Sort(names)
	return nil, fmt.Errorf("%w %q, only %s", ErrNoService, name, strings.Join(names, ", "))
}

// only are the objects of a render without a Service, in words.
func only(objects []object) string {
	const most = 5
	var names []string
	for _, o := range objects[:min(len(objects), most)] {
		names = append(names, o.key()) // a Kubernetes Service is none of Knative's
	}
	switch {
	case names == nil:
		return ", it is empty"
	case len(objects) > most:
		names = append(names, fmt.Sprintf("%d more", len(objects)-most))
	}
	return oneline.Of(", only "+strings.Join(names, ", "), 500)
}

// Services names the Knative Services of a render.
func Services(manifest []byte) ([]string, error) {
	objects, err := decode(manifest)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range objects {
		if o.isKnativeService() {
			names = append(names, o.text("metadata", "name"))
		}
	}
	return names, nil
}

// Namespaced tells whether an object of a rendered manifest names its namespace.
func Namespaced(manifest []byte) (bool, error) {
	objects, err := decode(manifest)
	return slices.ContainsFunc(objects, func(o object) bool { return o.text("metadata", "namespace") != "" }), err
}
