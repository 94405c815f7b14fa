package knative

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"
)

// operation is one step of a JSON6902 patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// missingDefaults lists what Knative would add inside the lists of the
// template and the template does not say itself. Outside of lists an added
// field survives the next apply, inside it does not. Live, when given, is the
// Service as Knative has defaulted it with the cluster's own settings; without
// it Knative's built-in defaults are assumed.
func missingDefaults(service object, live *servingv1.Service) ([]operation, error) {
	defaulted := live
	if defaulted == nil {
		var err error
		if defaulted, err = typed(service); err != nil {
			return nil, err
		}
		defaulted.SetDefaults(apis.WithinCreate(context.Background()))
	}
	raw, err := json.Marshal(defaulted.Spec.Template.Spec)
	if err != nil {
		return nil, err
	}
	var want map[string]any
	if err := json.Unmarshal(raw, &want); err != nil {
		return nil, err
	}
	return additions("/spec/template/spec", service.at("spec", "template", "spec"), want, false), nil
}

// additions lists the fields of want that have lacks, only below lists.
func additions(path string, have, want any, inList bool) []operation {
	switch want := want.(type) {
	case map[string]any:
		have, ok := have.(map[string]any)
		if !ok {
			return nil
		}
		var ops []operation
		for _, key := range slices.Sorted(maps.Keys(want)) {
			at := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
			value, there := have[key]
			switch {
			case there:
				ops = append(ops, additions(at, value, want[key], inList)...)
			case inList && !isZero(want[key]):
				ops = append(ops, operation{Op: "add", Path: at, Value: want[key]})
			}
		}
		return ops
	case []any:
		have, ok := have.([]any)
		if !ok || len(have) != len(want) {
			return nil
		}
		var ops []operation
		for i := range want {
			ops = append(ops, additions(path+"/"+strconv.Itoa(i), have[i], want[i], true)...)
		}
		return ops
	}
	return nil
}

// isZero tells fields that Go's encoding adds and that mean the same as
// absent ones, such as `resources: {}`.
func isZero(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return reflect.ValueOf(v).IsZero()
}

const defaultsHeader = `# Written by knative-promote: what Knative adds to the template's lists. Without it
# Knative refuses a commit that only shifts traffic.
`

func defaultsFile(ops []operation) ([]byte, error) {
	if len(ops) == 0 {
		return nil, nil
	}
	body, err := yaml.Marshal(ops)
	if err != nil {
		return nil, fmt.Errorf("writing the defaults: %w", err)
	}
	return append([]byte(defaultsHeader), body...), nil
}

// defaultsInTree reads back the tool's defaults file, none when there is none.
func (s *State) defaultsInTree() ([]operation, error) {
	file := s.ownFiles()[1]
	content, err := fs.ReadFile(s.fs(nil), file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	var ops []operation
	if err := yaml.Unmarshal(content, &ops); err != nil {
		return nil, fmt.Errorf("%s is not what knative-promote wrote: %w", file, err)
	}
	return ops, nil
}
