package check

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/strictyaml"
	"github.com/acme/knative-promote/promote/event"
)

// maxParameters is how many bytes such a file may have, its aliases expanded.
const maxParameters = 1 << 20

// parametersIn reads a file of parameters as Argo CD does, which merges it into the Application's
// source and keeps from that where the source is.
func parametersIn(file string, raw []byte) overriding {
	o := overriding{where: file, file: file}
	var source v1alpha1.ApplicationSource
	var is struct {
		Kustomize               json.RawMessage
		Directory, Helm, Plugin map[string]any
	}
	err := strictyaml.Bounded(raw, maxParameters)
	if err == nil {
		raw, err = yaml.YAMLToJSON(raw)
	}
	switch {
	case err != nil:
		o.err = errors.New("it is no YAML")
		return o
	case len(raw) == 0 || raw[0] != '{':
		o.err = errors.New("it is no mapping")
		return o
	}
	if json.Unmarshal(raw, &source) != nil || json.Unmarshal(raw, &is) != nil {
		o.err = errors.New("a value in it is of the wrong type")
		return o
	}
	if source.Kustomize != nil {
		o.kustomize = *source.Kustomize
	}
	o.others = otherParameters(is.Kustomize, o.kustomize)
	for name, values := range map[string]map[string]any{"Directory": is.Directory, "Helm": is.Helm, "Plugin": is.Plugin} {
		if values != nil {
			o.another = max(o.another, name)
		}
	}
	return o
}

// otherParameters are those of kustomize that findImageOverridden and findRenderOverridden do not look
// at by themselves.
func otherParameters(raw json.RawMessage, k v1alpha1.ApplicationSourceKustomize) (others []string) {
	if string(raw) == "null" {
		return []string{"null in place of all that the Application says"}
	}
	var is map[string]any
	_ = json.Unmarshal(raw, &is) // which it has been already, where there is any
	known := map[string]bool{
		"images": true, "patches": true, "components": true, "namePrefix": true, "nameSuffix": true,
		"commonLabels": !k.LabelWithoutSelector, "labelWithoutSelector": true,
	}
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if !known[key] || is[key] == nil {
			others = append(others, key)
		}
	}
	return others
}

// inFile is what a file does beside what an Application may do as well.
func (o overriding) inFile() (all []found) {
	if o.err != nil {
		all = append(all, o.found(event.SeverityError, values{"Kind": "unreadable", "Set": o.err}))
	}
	if o.another != "" {
		all = append(all, o.found(event.SeverityError, values{"Kind": "type", "Set": o.another}))
	}
	if len(o.others) > 0 {
		all = append(all, o.found(event.SeverityWarning, values{"Kind": "others", "Set": o.others}))
	}
	return all
}
