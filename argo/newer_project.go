package argo

import (
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/protobuf/encoding/protowire"
)

// The path to what Argo CD 3.5 added to a project, in the field numbers of
// https://github.com/argoproj/argo-cd/blob/v3.5.7/pkg/apis/application/v1alpha1/generated.proto
const (
	projectSpec     protowire.Number = 2
	specIntegrity   protowire.Number = 15
	integrityGit    protowire.Number = 1
	gitPolicies     protowire.Number = 1
	integrityRepos  protowire.Number = 1
	repoURL         protowire.Number = 1
	integrityGPG    protowire.Number = 2
	gpgMode         protowire.Number = 1
	gpgKeys         protowire.Number = 3
	unverified                       = "none"
	everyRepository                  = "*"
)

// signatureKeys are the keys of the project's sourceIntegrity for all of its repositories,
// which is what Argo CD 3.5 makes of signatureKeys. Those for some repositories alone are
// left out, because signatureKeys cannot say that.
func signatureKeys(project []byte) []v1alpha1.SignatureKey {
	var keys []v1alpha1.SignatureKey
	git := embedded(embedded(embedded(project, projectSpec), specIntegrity), integrityGit)
	for _, policy := range texts(git, gitPolicies) {
		gpg := embedded([]byte(policy), integrityGPG)
		if mode := texts(gpg, gpgMode); len(mode) > 0 && mode[len(mode)-1] == unverified {
			continue
		}
		for _, repo := range texts([]byte(policy), integrityRepos) {
			if string(embedded([]byte(repo), repoURL)) != everyRepository {
				continue
			}
			for _, key := range texts(gpg, gpgKeys) {
				keys = append(keys, v1alpha1.SignatureKey{KeyID: key})
			}
		}
	}
	return keys
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
