package policy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// The bounds of what is read: files, and bytes of one. An API server takes no
// object of more than 1.5 MiB.
const (
	mostFiles     = 100
	fileLimit     = 1 << 20
	expandedLimit = 2 << 20 // of a document, aliases expanded
)

// A Set is the policies of some files, compiled. The zero value denies nothing.
type Set struct {
	policies []*policy
}

// A policy is one ValidatingAdmissionPolicy.
type policy struct {
	file     string
	name     string
	spec     admissionv1.ValidatingAdmissionPolicySpec
	bindings []admissionv1.ValidatingAdmissionPolicyBindingSpec // of the same files; none: it denies everywhere
	compiled
}

// Read reads and compiles the policies of all files that the patterns match, in
// the syntax of path.Match. The error names the file, the policy and the field,
// and what to use instead of what is only known in a cluster.
func Read(tree fs.FS, patterns []string) (Set, error) {
	files, err := matches(tree, patterns)
	if err != nil {
		return Set{}, err
	}
	var set Set
	bindings := map[string][]admissionv1.ValidatingAdmissionPolicyBindingSpec{}
	for _, file := range files {
		if err := set.add(tree, file, bindings); err != nil {
			return Set{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	for _, p := range set.policies {
		p.bindings = bindings[p.name]
		delete(bindings, p.name)
	}
	for name := range bindings {
		return Set{}, fmt.Errorf("a binding is for policy %s, which is in none of the files: expected its file among them", quoted(name))
	}
	if len(set.policies) == 0 {
		return Set{}, fmt.Errorf("no ValidatingAdmissionPolicy in %s", strings.Join(files, ", "))
	}
	return set, nil
}

// Files are those that the patterns match and that can be found, also through a link.
func Files(tree fs.FS, patterns []string) (files []string) {
	for _, pattern := range patterns {
		found, _ := fs.Glob(tree, pattern) // one that is wrong is an error of Read
		files = append(files, found...)
	}
	return files
}

// matches are the files of the patterns, each once, in order.
func matches(tree fs.FS, patterns []string) ([]string, error) {
	var files []string
	for _, pattern := range patterns {
		found, err := fs.Glob(tree, pattern)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", pattern, err)
		}
		if err := readable(tree, pattern); len(found) == 0 && err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%q matches no file of the infra repository: expected files such as policies/*.yaml, relative to its root", pattern)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	if len(files) > mostFiles {
		return nil, fmt.Errorf("%d files match: expected %d at most", len(files), mostFiles)
	}
	return files, nil
}

// readable is why the folder that a pattern begins with could not be read, which
// fs.Glob does not say; nil where it is not there.
func readable(tree fs.FS, pattern string) error {
	folder := pattern[:max(0, strings.LastIndex(pattern[:strings.IndexAny(pattern+"*", `*?[\`)], "/"))]
	if folder == "" {
		folder = "."
	}
	if _, err := fs.ReadDir(tree, folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// add reads the documents of one file.
func (s *Set) add(tree fs.FS, file string, bindings map[string][]admissionv1.ValidatingAdmissionPolicyBindingSpec) error {
	switch path.Base(file) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization":
		return nil // the list of the other files
	}
	info, err := fs.Stat(tree, file)
	if err != nil {
		return err
	}
	if info.Size() > fileLimit {
		return fmt.Errorf("it has %d bytes: expected %d at most", info.Size(), fileLimit)
	}
	content, err := fs.ReadFile(tree, file)
	if err != nil {
		return err
	}
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.document(file, document, bindings)
		}
		if err != nil {
			return err
		}
	}
}

// document reads one document, which is a policy or a binding.
func (s *Set) document(file string, document []byte, bindings map[string][]admissionv1.ValidatingAdmissionPolicyBindingSpec) error {
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
