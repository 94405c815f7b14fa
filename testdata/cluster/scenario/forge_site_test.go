//go:build cluster

package scenario

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/testdata/cluster/forge"
	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// A forgeSite is a site whose infra repository is on the forge, where a
// workflow of the service's own repository runs the program.
type forgeSite struct {
	*site
	forge *forge.Forge
	owner string // account that owns the repositories
	ci    string // account that promotes: it may write to them
	token string // of ci, which may push
	infra *forge.Repository
}

// newForgeSite makes a site on the control plane's forge.
func newForgeSite(t *testing.T, change ...func(*layout)) *forgeSite {
	t.Helper()
	return newSiteOn(t, nil, change...)
}

// newSiteOn makes a site on a forge; nil is the control plane's.
func newSiteOn(t *testing.T, f *forge.Forge, change ...func(*layout)) *forgeSite {
	t.Helper()
	s := &forgeSite{forge: f}
	s.site = newSite(t, append(change, func(l *layout) {
		l.Host = func(name string, files fstest.MapFS) (url, dir string, err error) {
			if err := s.found(t, name, files); err != nil {
				return "", "", err
			}
			return s.infra.URL(), s.infra.Folder(), nil
		}
	})...)
	return s
}

// found makes the accounts and the infra repository. Argo CD may read it.
func (s *forgeSite) found(t *testing.T, name string, files fstest.MapFS) (err error) {
	if s.forge == nil {
		if s.forge, err = world.Forge(); err != nil {
			return err
		}
	}
	s.owner, s.ci = "acme-"+name, "ci-"+name
	for _, user := range []string{s.owner, s.ci} {
		if err := s.forge.User(t.Context(), user); err != nil {
			return err
		}
	}
	if s.infra, err = s.forge.Repository(t.Context(), s.owner, "infra", files); err != nil {
		return err
	}
	if err := s.infra.Collaborator(t.Context(), s.ci, "write"); err != nil {
		return err
	}
	if err := s.infra.Collaborator(t.Context(), plane.ForgeReader, "read"); err != nil {
		return err
	}
	if s.token, err = s.forge.Token(t.Context(), s.ci, "write:repository"); err != nil {
		return err
	}
	return watched(s.ci, s.token)
}

// runs runs a command in a workflow on the forge, with more inputs.
func (s *forgeSite) runs(command string, more ...string) *run {
	s.Helper()
	return s.begins(command, more...).wait()
}

// begins starts it.
func (s *forgeSite) begins(command string, more ...string) *run {
	s.Helper()
	return s.begin(command, append([]string{
		"GITHUB_ACTIONS=true", "GITEA_ACTIONS=true", "GITHUB_ACTOR=octocat", "GITHUB_RUN_ID=1",
		"GITHUB_SERVER_URL=" + s.forge.URL, "GITHUB_API_URL=" + s.forge.API(),
		"repository=" + s.infra.FullName(), "token=" + s.token,
	}, more...)...)
}

// tokenOf makes another token of an account.
func (s *forgeSite) tokenOf(user string, scopes ...string) string {
	s.Helper()
	token, err := s.forge.Token(s.Context(), user, scopes...)
	s.must(err)
	s.must(watched(user, token))
	return token
}

// told is what a run told in annotations of a level, error or warning: the
// title and the text, without what differs between runs.
func (s *forgeSite) told(r *run, level string) []string {
	var told []string
	for line := range strings.Lines(r.log.String()) {
		properties, text, found := strings.Cut(strings.TrimPrefix(line, "::"+level+" "), "::")
		if !found || !strings.HasPrefix(line, "::"+level+" ") {
			continue
		}
		text = strings.NewReplacer(s.forge.URL, "FORGE", s.owner, "OWNER", s.Service, "SERVICE", "%0A", "\n", "%25", "%").Replace(text)
		told = append(told, strings.TrimPrefix(properties, "title=")+": "+withoutHashes(strings.TrimSpace(text)))
	}
	return told
}

// fails holds a run to its exit code and the one error that it told.
func (s *forgeSite) fails(r *run, code int, want string) {
	s.Helper()
	told := strings.Join(s.told(r, "error"), "\n")
	if r.Code != code || told != want {
		s.Errorf("exit code %d and the error\n%s\nwant %d and\n%s", r.Code, told, code, want)
	}
}

// other commits something else to the infra repository, as its owner.
func (s *forgeSite) other(name string) {
	s.Helper()
	_, err := s.infra.Commit(s.Context(), s.owner, forge.Branch, "Change "+name, map[string]string{"other/" + name: "of others\n"})
	s.must(err)
}

// withoutHashes is a text without the hashes of commits and revisions.
func withoutHashes(text string) string {
	return regexp.MustCompile(`\b[0-9a-f]{8,40}\b`).ReplaceAllString(text, "HASH")
}
