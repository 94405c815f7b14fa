package argo

import (
	"slices"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
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

func TestSignaturesOf(t *testing.T) {
	t.Parallel()
	const a, b, ours, other = "4AEE18F83AFDEB23", "9D1E6C3B0A5F4D72", "https://git.example.test/infra.git", "https://git.example.test/other.git"
	for name, test := range map[string]struct {
		legacy  []string
		more    []byte
		written string // the annotation, by somebody else
		want    *Signatures
	}{
		"none":                     {want: nil},
		"signatureKeys":            {legacy: []string{a}, want: &Signatures{Keys: []string{a}}},
		"by fingerprint":           {legacy: []string{"000000000000000000000000" + a}, want: &Signatures{Keys: []string{a}}},
		"of all repositories":      {more: integrity(policy("head", []string{a, b}, "*")), want: &Signatures{Keys: []string{a, b}}},
		"of this repository":       {more: integrity(policy("head", []string{a}, ours)), want: &Signatures{Keys: []string{a}}},
		"with the commits before":  {more: integrity(policy("strict", []string{a}, "https://git.example.test/*")), want: &Signatures{Keys: []string{a}, Ancestors: true}},
		"of another":               {more: integrity(policy("strict", []string{a}, other)), want: nil},
		"of all but this":          {more: integrity(policy("head", []string{a}, "*", "!"+ours)), want: nil},
		"not verified":             {more: integrity(policy("none", []string{a}, "*")), want: nil},
		"several, one is for this": {more: integrity(policy("none", []string{a}, "*"), policy("head", []string{b}, other, ours)), want: &Signatures{Keys: []string{b}}},
		"no key is accepted":       {more: integrity(policy("head", nil, "*")), want: &Signatures{}},
		"somebody else's":          {written: `[{"Repos": ["*"], "Mode": "strict", "Keys": ["` + a + `"]}]`, want: nil},
		"cut":                      {more: integrity(policy("head", []string{a}, "*"))[:20], want: nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := &v1alpha1.AppProject{}
			if test.written != "" {
				project.Annotations = map[string]string{integrityAnnotation: test.written}
			}
			for _, key := range test.legacy {
				project.Spec.SignatureKeys = append(project.Spec.SignatureKeys, v1alpha1.SignatureKey{KeyID: key})
			}
			fillNewerFields(test.more, project)
			if diff := cmp.Diff(test.want, SignaturesOf(project, ours)); diff != "" {
				t.Errorf("signatures (-want +got):\n%s", diff)
			}
		})
	}
}
