package gitops_test

import (
	"slices"
	"testing"

	"github.com/argoproj/argo-cd/v2/util/git"
	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// TestNamesakes asks a server with references of every kind which of them Argo CD may deploy in
// the place of a branch, and holds the answer to what Argo CD's own code takes. Over HTTP most
// references are not kept, these have to be.
func TestNamesakes(t *testing.T) {
	t.Parallel()
	references := []string{
		"refs/env/main", "refs/heads/env/main", "refs/tags/env/main", "refs/remotes/env/main", "refs/heads/heads/env/main",
		"refs/tags/main", "refs/main", "refs/pull/7/head", "refs/heads/not-env/main", "refs/tags/HEAD", "refs/heads/refs/heads/env/main",
		"refs/heads/1.x", "refs/tags/v1.4.0", "refs/tags/v2.0.0", "refs/tags/v1", "refs/heads/v1.5.0",
	}
	tests := map[string]struct {
		branch, target string
		want           []string
		byDefault      string
	}{
		"in short":             {"env/main", "env/main", []string{"refs/env/main", "refs/remotes/env/main", "refs/tags/env/main"}, ""},
		"in full":              {"env/main", "refs/heads/env/main", []string{"refs/heads/refs/heads/env/main"}, ""},
		"by HEAD":              {"main", "HEAD", []string{"refs/tags/HEAD"}, ""},
		"by default":           {"main", "", []string{"refs/tags/HEAD"}, ""},
		"with a tag and a ref": {"main", "main", []string{"refs/main", "refs/tags/main"}, ""},
		"another default":      {"env/main", "", []string{"refs/tags/HEAD"}, "main"},
		"HEAD is another":      {"env/main", "HEAD", []string{"refs/tags/HEAD"}, "main"},
		"named as versions":    {"1.x", "1.x", []string{"refs/tags/v1", "refs/tags/v1.4.0"}, ""},
		"named as a version":   {"v1.5.0", "v1.5.0", []string{}, ""},
	}
	s := serve(t, gittest.Repository{}, infra(), nil)
	of := map[string]string{s.git(t, "rev-parse", "main"): "refs/heads/main"}
	for _, reference := range references {
		commit := s.git(t, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit-tree", "-p", "main", "-m", reference, "main^{tree}")
		s.git(t, "update-ref", reference, commit)
		of[commit] = reference
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := open(t, remote.Config{URL: s.url, Branch: test.branch, Token: token}).Namesakes(t.Context(), test.target)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.References); diff != "" {
				t.Errorf("namesakes of %s for %q (-want +got):\n%s", test.branch, test.target, diff)
			}
			if leads := deployed(t, s.url, of, test.target); !leadsTo(leads, "refs/heads/"+test.branch, got) {
				t.Errorf("Argo CD deploys %q for %q, and the namesakes of %s are %+v", leads, test.target, test.branch, got)
			}
			if got.Default != test.byDefault {
				t.Errorf("the default branch in place of %s for %q: got %q, want %q", test.branch, test.target, got.Default, test.byDefault)
			}
		})
	}
}

// deployed are the references that Argo CD's own code takes for a targetRevision, asked many times.
func deployed(t *testing.T, url string, of map[string]string, target string) (leads []string) {
	t.Helper()
	client, err := git.NewClientExt(url, t.TempDir(), git.NopCreds{}, false, false, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		commit, err := client.LsRemote(target)
		if err != nil {
			t.Fatal(err)
		}
		leads = append(leads, of[commit])
	}
	slices.Sort(leads)
	return slices.Compact(leads)
}

// leadsTo tells whether the namesakes explain all that Argo CD deploys beside the branch, and it deploys
// one of them where there are any.
func leadsTo(leads []string, branch string, namesakes gitops.Namesakes) bool {
	others := slices.DeleteFunc(slices.Clone(leads), func(reference string) bool { return reference == branch })
	for _, reference := range others {
		if !slices.Contains(namesakes.References, reference) && reference != "refs/heads/"+namesakes.Default {
			return false
		}
	}
	return namesakes.Any() == (len(others) > 0)
}
