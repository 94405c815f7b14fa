package argo

import (
	"slices"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/protobuf/encoding/protowire"
)

// in wraps fields into a message's field.
func in(field protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), slices.Concat(parts...))
}

func text(field protowire.Number, value string) []byte { return in(field, []byte(value)) }

// integrity is a project's spec.sourceIntegrity as Argo CD sends it since 3.5.
func integrity(policies ...[]byte) []byte {
	return in(projectSpec, in(specIntegrity, in(integrityGit, policies...)))
}

func policy(mode string, keys []string, urls ...string) []byte {
	var repos, gpg []byte
	for _, url := range urls {
		repos = append(repos, in(integrityRepos, text(repoURL, url))...)
	}
	if mode != "" {
		gpg = text(gpgMode, mode)
	}
	for _, key := range keys {
		gpg = append(gpg, text(gpgKeys, key)...)
	}
	return in(gitPolicies, repos, in(integrityGPG, gpg))
}

func TestSourceIntegrityIsSignatureKeys(t *testing.T) {
	t.Parallel()
	const a, b = "4AEE18F83AFDEB23", "9D1E6C3B0A5F4D72"
	for name, test := range map[string]struct {
		more []byte
		want []string
	}{
		"none":                {nil, []string{"legacy"}},
		"of all repositories": {integrity(policy("head", []string{a, b}, "*")), []string{"legacy", a, b}},
		"of some":             {integrity(policy("strict", []string{a}, "https://git.example.test/other.git")), []string{"legacy"}},
		"not verified":        {integrity(policy("none", []string{a}, "*")), []string{"legacy"}},
		"several":             {integrity(policy("none", []string{a}, "*"), policy("", []string{b}, "https://git.example.test/x", "*")), []string{"legacy", b}},
		"cut":                 {integrity(policy("head", []string{a}, "*"))[:20], []string{"legacy"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{SignatureKeys: []v1alpha1.SignatureKey{{KeyID: "legacy"}}}}
			fillNewerFields(test.more, project)
			var got []string
			for _, key := range project.Spec.SignatureKeys {
				got = append(got, key.KeyID)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
