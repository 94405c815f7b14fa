package knative

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
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

// missingDefaults lists what Knative would add to the template, or change in
// it, and a later apply would remove. Live, when given, is the Service as
// Knative has defaulted it with the cluster's own settings. Without it, or
// with another revision's template in it, Knative's built-in defaults are
// assumed.
func missingDefaults(service object, revision string, live *servingv1.Service) ([]operation, error) {
	written, err := typed(service)
	if err != nil {
		return nil, err
	}
	defaulted := written.DeepCopy()
	if live != nil {
		takeNames(defaulted.Spec.Template.Spec.Containers, live.Spec.Template.Spec.Containers)
		takeNames(defaulted.Spec.Template.Spec.InitContainers, live.Spec.Template.Spec.InitContainers)
	}
	defaulted.SetDefaults(apis.WithinCreate(context.Background()))
	if live != nil && live.Spec.Template.Name == revision && sameImages(written, live) {
		defaulted = live
	}
	bare, err := podSpec(written)
	if err != nil {
		return nil, err
	}
	want, err := podSpec(defaulted)
	if err != nil {
		return nil, err
	}
	have, _ := service.at("spec", "template", "spec").(map[string]any)
	return additions(templateSpec, have, bare, want, false), nil
}

// templateSpec is the path of what Knative gives defaults to.
const templateSpec = "/spec/template/spec"

// podSpec is the template's spec as Go's types write it.
func podSpec(service *servingv1.Service) (map[string]any, error) {
	raw, err := json.Marshal(service.Spec.Template.Spec)
	if err != nil {
		return nil, err
	}
	var spec map[string]any
	return spec, json.Unmarshal(raw, &spec)
}

// takeNames gives containers without a name the ones they have in the cluster.
// An administrator can change how Knative names them, and an old revision with
// other names could not be rolled back.
func takeNames(containers, live []corev1.Container) {
	if len(containers) != len(live) {
		return
	}
	for i := range containers {
		taken := slices.ContainsFunc(containers, func(c corev1.Container) bool { return c.Name == live[i].Name })
		if containers[i].Name == "" && !taken {
			containers[i].Name = live[i].Name
		}
	}
}

// sameImages tells whether two Services have the same containers. A live
// Service with others says nothing of this template's defaults.
func sameImages(a, b *servingv1.Service) bool {
	return slices.Equal(containerImages(a), containerImages(b))
}

func containerImages(service *servingv1.Service) []string {
	var images []string
	for _, c := range service.Spec.Template.Spec.InitContainers {
		images = append(images, "init "+c.Image)
	}
	for _, c := range service.Spec.Template.Spec.Containers {
		images = append(images, c.Image)
	}
	return images
}

// defaultsInTree reads back the tool's defaults file, none when there is none.
// What the tool cannot have written is an error beside the rest: it would be lost.
func defaultsInTree(s *State) ([]operation, error) {
	content, err := fs.ReadFile(filesOf(s, nil), defaultsPath(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", defaultsName(s), err)
	}
	return parseDefaults(defaultsName(s), content)
}

func parseDefaults(name string, content []byte) ([]operation, error) {
	var ops []operation
	if err := yaml.UnmarshalStrict(content, &ops); err != nil {
		return nil, fmt.Errorf("%s is no list of JSON6902 operations, as knative-promote writes it; delete it and its entry in patches:, the next promotion writes it again", name)
	}
	var foreign []string
	ops = slices.DeleteFunc(ops, func(op operation) bool {
		_, ok := known(op.Path, op.Value)
		ours := op.Op == "add" && ok
		if !ours {
			foreign = append(foreign, op.Op+" "+op.Path)
		}
		return !ours
	})
	if len(foreign) > 0 {
		return ops, fmt.Errorf("%s has what is no default of Knative's: %s; move that to a patch of its own", name, list(foreign))
	}
	return ops, nil
}

// keepOperations adds what the tree's defaults file says and the live Service, which is
// not known now, would: the names of containers, and under the same revision
// all that the cluster's settings added.
func keepOperations(s *State, ops []operation, revision string) []operation {
	old, _ := defaultsInTree(s) // what is somebody's there is for CheckOwn
	for _, op := range old {
		i := slices.IndexFunc(ops, func(o operation) bool { return o.Path == op.Path })
		switch same := revision == s.Revision(); {
		case i >= 0 && (same || path.Base(op.Path) == "name"):
			ops[i] = op
		case i < 0 && same && !s.plain.has(op.Path) && s.plain.has(path.Dir(op.Path)):
			ops = append(ops, op)
		}
	}
	slices.SortStableFunc(ops, func(a, b operation) int { return strings.Compare(a.Path, b.Path) })
	return ops
}

// Hidden are the paths of what somebody has written into the template since the file of
// defaults was, which puts something else there until the next promotion writes it anew.
func Hidden(s *State) (paths []string) {
	ops, _ := defaultsInTree(s)
	for _, op := range ops {
		written, there := s.plain.value(op.Path)
		if rendered, _ := s.service.value(op.Path); there && !equal(written, rendered) {
			paths = append(paths, op.Path)
		}
	}
	return paths
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

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }
