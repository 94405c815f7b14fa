package policy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/internal/strictyaml"
)

// expandedLimit bounds a document, in bytes with its aliases expanded.
const expandedLimit = 2 << 20

// reading is the policies of the files so far.
type reading struct{ policies []*policy }

// A policy is one ValidatingAdmissionPolicy.
type policy struct {
	file     string
	name     string
	spec     admissionv1.ValidatingAdmissionPolicySpec
	bindings []admissionv1.ValidatingAdmissionPolicyBindingSpec // of the same files; none: it denies everywhere
	asked    bool                                               // it matches something that was rendered, or comes of that
	compiled
}

// compiledOf are the policies of files. The error names the file, the policy and the
// field, and what to use instead of what is only known in a cluster.
func compiledOf(files []file) ([]*policy, error) {
	var read reading
	bindings := map[string][]admissionv1.ValidatingAdmissionPolicyBindingSpec{}
	for _, f := range files {
		if err := read.add(f, bindings); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	for _, p := range read.policies {
		p.bindings = bindings[p.name]
		delete(bindings, p.name)
	}
	for name := range bindings {
		return nil, fmt.Errorf("a binding is for policy %s, which is in none of the files: expected its file among them", quoted(name))
	}
	if len(read.policies) == 0 {
		return nil, fmt.Errorf("no ValidatingAdmissionPolicy in %s", strings.Join(names(files), ", "))
	}
	return read.policies, nil
}

// add reads the documents of one file.
func (s *reading) add(f file, bindings map[string][]admissionv1.ValidatingAdmissionPolicyBindingSpec) error {
	switch path.Base(f.Name) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization":
		return nil // the list of the other files
	}
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(f.Content))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.document(f.Name, document, bindings)
		}
		if err != nil {
			return err
		}
	}
}

// document reads one document, which is a policy or a binding.
func (s *reading) document(file string, document []byte, bindings map[string][]admissionv1.ValidatingAdmissionPolicyBindingSpec) error {
	if err := strictyaml.Bounded(document, expandedLimit); err != nil {
		return errors.New(oneline.Of(err.Error(), 300))
	}
	var is metav1.TypeMeta
	if err := yaml.Unmarshal(document, &is); err != nil {
		return errors.New(oneline.Of(err.Error(), 300))
	}
	group, _, _ := strings.Cut(is.APIVersion, "/")
	switch {
	case is == metav1.TypeMeta{} && blank(document):
		return nil
	case group == admissionv1.GroupName && is.Kind == "ValidatingAdmissionPolicy":
		p, err := read(file, document)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(s.policies, func(other *policy) bool { return other.name == p.name }) {
			return fmt.Errorf("policy %s is there twice", p.name)
		}
		s.policies = append(s.policies, p)
		return nil
	case group == admissionv1.GroupName && is.Kind == "ValidatingAdmissionPolicyBinding":
		return bind(document, bindings)
	}
	return fmt.Errorf("it holds %s of %s: expected ValidatingAdmissionPolicy and its bindings; for other policies, write the rendered manifests "+
		"into a folder (input manifests) and run their own tool on it", quoted(is.Kind), quoted(is.APIVersion))
}

func blank(document []byte) bool {
	var anything any
	return yaml.Unmarshal(document, &anything) == nil && anything == nil
}

// read reads and compiles one policy. The versions of its API have the same
// fields.
func read(file string, document []byte) (*policy, error) {
	var object admissionv1.ValidatingAdmissionPolicy
	if err := yaml.UnmarshalStrict(document, &object); err != nil {
		return nil, errors.New(oneline.Of(err.Error(), 300))
	}
	p := &policy{file: file, name: object.Name, spec: object.Spec}
	if p.name == "" {
		return nil, errors.New("a policy has no metadata.name")
	}
	err := p.valid()
	if err == nil {
		p.compiled, err = compile(p.spec)
	}
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", quoted(p.name), err)
	}
	return p, nil
}

// bind reads a binding, which says where its policy counts and whether it denies.
func bind(document []byte, bindings map[string][]admissionv1.ValidatingAdmissionPolicyBindingSpec) error {
	var object admissionv1.ValidatingAdmissionPolicyBinding
	if err := yaml.UnmarshalStrict(document, &object); err != nil {
		return errors.New(oneline.Of(err.Error(), 300))
	}
	if object.Spec.ParamRef != nil {
		return fmt.Errorf("binding %s: spec.paramRef: %w", quoted(object.Name), errParams)
	}
	if m := object.Spec.MatchResources; m != nil {
		if err := validMatch("spec.matchResources", *m); err != nil {
			return fmt.Errorf("binding %s: %w", quoted(object.Name), err)
		}
	}
	bindings[object.Spec.PolicyName] = append(bindings[object.Spec.PolicyName], object.Spec)
	return nil
}

// quoted is a foreign word of an error.
func quoted(text string) string { return fmt.Sprintf("%q", oneline.Of(text, 100)) }
