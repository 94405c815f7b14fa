//go:build cluster

package scenario

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/signingtest"
)

// TestSignedCommits: Argo CD takes the commits of a project that wants
// signatures where they are signed with an OpenPGP key that the project names.
// With another key, or none, the promotion ends before its first commit.
func TestSignedCommits(t *testing.T) {
	t.Parallel()
	key, other := signingtest.OpenPGP(t, "ed25519", ""), signingtest.OpenPGP(t, "rsa3072", "")
	for _, k := range []signingtest.Key{key, other} {
		if err := os.WriteFile(world.File("argocd/gpg/source", k.ID), []byte(k.Public), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, project := range projectsOf(key.ID) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.replace("v1.0.1")
			s.project(`sourceRepos: ["*"], ` + project)
			s.promote("v2.0.0").exits(13).says("signature-required")
			s.promote("v2.0.0", "signing-key="+signingtest.SSH(t, "", "-t", "ed25519").Private).exits(13).says("signature-required")
			s.promote("v2.0.0", "signing-key="+other.Private).exits(13).says("signature-required")
			if strings.Contains(project, "strict") {
				s.promote("v2.0.0", "signing-key="+key.Private).exits(13).says("signature-of-others")
				s.seal(key)
			}
			s.promote("v2.0.0", "signing-key="+key.Private).exits(0)
			s.settled("v2.0.0")
			s.promote("v3.0.0-broken", "signing-key="+key.Private, "wait-timeout=1m").exits(8)
			s.settled("v2.0.0")
		})
	}
}

// seal accepts the history of the branch with a signed commit.
func (s *site) seal(key signingtest.Key) {
	s.Helper()
	work := s.TempDir()
	for _, args := range [][]string{
		{"clone", "--quiet", s.Dir, "."},
		{"-c", "user.name=lead", "-c", "user.email=lead@example.com", "commit", "--quiet", "--allow-empty", "--gpg-sign=" + key.ID, "--message=Accept the history", "--trailer=Argocd-gpg-seal: it was looked at"},
		{"push", "--quiet"},
	} {
		c := exec.CommandContext(s.Context(), "git", args...)
		c.Dir, c.Env = work, append(os.Environ(), "GNUPGHOME="+key.Home)
		if out, err := c.CombinedOutput(); err != nil {
			s.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
}

// projectsOf are what a project can say of signatures, by the version of Argo CD.
func projectsOf(key string) map[string]string {
	projects := map[string]string{"signatureKeys": "signatureKeys: [{keyID: " + key + "}]"}
	if strings.HasPrefix(*argocdVersion, "3.5") {
		for _, mode := range []string{"head", "strict"} {
			projects[mode] = `sourceIntegrity: {git: {policies: [{repos: [{url: "*"}], gpg: {mode: ` + mode + `, keys: [` + key + `]}}]}}`
		}
	}
	return projects
}
