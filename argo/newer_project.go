package argo

import (
	"encoding/json"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/glob"
	"github.com/argoproj/argo-cd/v2/util/gpg"
	"google.golang.org/protobuf/encoding/protowire"
)

// The path to what Argo CD 3.5 added to a project, in the field numbers of
// https://github.com/argoproj/argo-cd/blob/v3.5.7/pkg/apis/application/v1alpha1/generated.proto
const (
	projectSpec    protowire.Number = 2
	specIntegrity  protowire.Number = 15
	integrityGit   protowire.Number = 1
	gitPolicies    protowire.Number = 1
	integrityRepos protowire.Number = 1
	repoURL        protowire.Number = 1
	integrityGPG   protowire.Number = 2
	gpgMode        protowire.Number = 1
	gpgKeys        protowire.Number = 3
	unverified                      = "none"
	withAncestors                   = "strict"
)

// integrityAnnotation carries, in the JSON of integrityPolicies, what a project of Argo CD 3.5
// says in a field that its type here does not have, as Kubernetes carries the fields that an
// older version of an object lacks.
const integrityAnnotation = "knative-promote/source-integrity"

// An integrityPolicy is one of a project's sourceIntegrity that checks signatures.
type integrityPolicy struct {
	Repos []string // patterns, those to leave out with a ! before them
	Mode  string
	Keys  []string
}

func integrityPolicies(project []byte) []integrityPolicy {
	var policies []integrityPolicy
	git := embedded(embedded(embedded(project, projectSpec), specIntegrity), integrityGit)
	for _, encoded := range texts(git, gitPolicies) {
		gpg := embedded([]byte(encoded), integrityGPG)
		policy := integrityPolicy{Keys: texts(gpg, gpgKeys)}
		if modes := texts(gpg, gpgMode); len(modes) > 0 {
			policy.Mode = modes[len(modes)-1]
		}
		for _, repo := range texts([]byte(encoded), integrityRepos) {
			policy.Repos = append(policy.Repos, string(embedded([]byte(repo), repoURL)))
		}
		if policy.Mode != unverified {
			policies = append(policies, policy)
		}
	}
	return policies
}

// keepIntegrity puts the policies of an answer where SignaturesOf finds them, in the place of
// what somebody else may have written there.
func keepIntegrity(answer []byte, project *v1alpha1.AppProject) {
	delete(project.Annotations, integrityAnnotation)
	policies := integrityPolicies(answer)
	if len(policies) == 0 {
		return
	}
	encoded, err := json.Marshal(policies)
	if err != nil {
		return // a struct of texts has a JSON
	}
	if project.Annotations == nil {
		project.Annotations = map[string]string{}
	}
	project.Annotations[integrityAnnotation] = string(encoded)
}

// covers follows Argo CD
// (https://github.com/argoproj/argo-cd/blob/v3.5.7/util/sourceintegrity/source_integrity.go).
func (p integrityPolicy) covers(repository string) bool {
	covered := false
	for _, pattern := range p.Repos {
		if except, ok := strings.CutPrefix(pattern, "!"); ok && glob.Match(except, repository) {
			return false
		}
		covered = covered || glob.Match(pattern, repository)
	}
	return covered
}

// Signatures are what a project wants of the commits of a repository.
type Signatures struct {
	// Keys are the ids of the OpenPGP keys that it accepts, of 16 hexadecimal digits.
	Keys []string
	// Ancestors says that the commits before must be signed too.
	Ancestors bool
}

// SignaturesOf tells whether a project wants signed commits of a repository, as its
// Application names it, and which. Nil: it does not.
func SignaturesOf(project *v1alpha1.AppProject, repository string) *Signatures {
	var wanted Signatures
	for _, key := range project.Spec.SignatureKeys {
		wanted.Keys = append(wanted.Keys, gpg.KeyID(key.KeyID))
	}
	var policies []integrityPolicy
	// keepIntegrity alone writes the annotation, and what cannot be read says nothing.
	_ = json.Unmarshal([]byte(project.Annotations[integrityAnnotation]), &policies)
	some := len(wanted.Keys) > 0
	for _, policy := range policies {
		if !policy.covers(repository) {
			continue
		}
		some = true
		wanted.Ancestors = wanted.Ancestors || policy.Mode == withAncestors
		for _, key := range policy.Keys {
			wanted.Keys = append(wanted.Keys, gpg.KeyID(key))
		}
	}
	if !some {
		return nil
	}
	return &wanted
}

// texts are the values of a field that is there any number of times.
func texts(message []byte, field protowire.Number) []string {
	var all []string
	each(message, func(number protowire.Number, kind protowire.Type, value []byte) {
		if number == field && kind == protowire.BytesType {
			text, _ := protowire.ConsumeBytes(value)
			all = append(all, string(text))
		}
	})
	return all
}
