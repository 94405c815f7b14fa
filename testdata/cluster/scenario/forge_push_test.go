//go:build cluster

package scenario

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/testdata/cluster/forge"
)

// TestForgeRefuses has every no that a forge says to a workflow: the run ends
// with the code for it and one error in the forge's words, and nothing has
// changed.
func TestForgeRefuses(t *testing.T) {
	t.Parallel()
	s := newForgeSite(t)
	for _, c := range append(s.refusedTokens(), s.refusedPushes()...) {
		undo := c.prepare()
		r := s.runs("promote", append([]string{"image=" + s.Image + ":v2.0.0"}, c.inputs...)...)
		undo()
		t.Log(c.name)
		s.fails(r, c.code, c.want)
		if status, changed := r.output("status"), r.output("changed"); status != "failed" || changed != "false" {
			t.Errorf("status %s, changed %s", status, changed)
		}
		if commits := s.commits(); len(commits) > 0 {
			t.Fatalf("it made commits: %q", commits)
		}
	}
	s.answersOnly("v1.0.0")
}

// A refusal is one no of the forge.
type refusal struct {
	name    string
	prepare func() (undo func())
	inputs  []string
	code    int
	want    string
}

// with is a preparation that cannot fail but by the forge.
func (s *forgeSite) with(do, undo func() error) func() func() {
	return func() func() {
		s.Helper()
		s.must(do())
		return func() { s.Helper(); s.must(undo()) }
	}
}

func nothing() func() { return func() {} }

func (s *forgeSite) refusedTokens() []refusal {
	ctx := s.Context()
	s.must(s.forge.User(ctx, "stranger-"+s.Service))
	const check = "access denied: check that the token or key is valid and may read and write the repository"
	const hidden = "not found: check the address, and that the token or key may see it"
	return []refusal{
		{"no token", nothing, []string{"token="}, 4,
			"Not allowed: reading FORGE/OWNER/infra.git: access denied: no token was given: give one that may read and write the repository (authentication required: Unauthorized)"},
		{"wrong token", nothing, []string{"token=" + strings.Repeat("0", 40)}, 4,
			"Not allowed: reading FORGE/OWNER/infra.git: " + check + " (authentication required: Failed to authenticate user)"},
		{"token without any scope for repositories", nothing, []string{"token=" + s.tokenOf(s.ci, "write:issue")}, 4,
			"Not allowed: reading FORGE/OWNER/infra.git: " + check + " (authorization failed: Forbidden)"},
		{"token without the scope to write", nothing, []string{"token=" + s.tokenOf(s.ci, "read:repository")}, 13,
			foreseen(check+" (authorization failed: Forbidden)", "Check the input token: it needs write access to the contents of the infra repository.")},
		{"the same without a preflight", nothing, []string{"token=" + s.tokenOf(s.ci, "read:repository"), "preflight=off"}, 4,
			"Not allowed: candidate: pushing to FORGE/OWNER/infra.git: " + check + " (authorization failed: Forbidden)"},
		{"stranger", nothing, []string{"token=" + s.tokenOf("stranger-"+s.Service, "write:repository")}, 3,
			"Bad input: reading FORGE/OWNER/infra.git: " + hidden},
		{"no such repository", nothing, []string{"repository=" + s.owner + "/nothing"}, 3,
			"Bad input: reading FORGE/OWNER/nothing.git: " + hidden},
		{"address of a page", nothing, []string{"repository=" + s.forge.URL + "/" + s.infra.FullName() + "/src/branch/main"}, 3,
			"Bad input: reading FORGE/OWNER/infra/src/branch/main: " + hidden},
		{"no such branch", nothing, []string{"branch=production"}, 3,
			"Bad input: branch production of FORGE/OWNER/infra.git: not found: expected one of main"},
	}
}

func (s *forgeSite) refusedPushes() []refusal {
	ctx := s.Context()
	const pushing = "Push refused: candidate: pushing to FORGE/OWNER/infra.git: refused by the server: pre-receive hook declined"
	const fix = ": let the token's owner push to the branch, or change the rule"
	protect := func(p forge.Protection) func() func() {
		return s.with(func() error { return s.infra.Protect(ctx, forge.Branch, p) }, func() error { return s.infra.Unprotect(ctx, forge.Branch) })
	}
	hook := func(script string) func() func() {
		return s.with(func() error { return s.infra.Hook("pre-receive", script) }, func() error { return s.infra.Hook("pre-receive", "") })
	}
	collaborator := func(permission string) func() error {
		return func() error { return s.infra.Collaborator(ctx, s.ci, permission) }
	}
	archive := func(archived bool) func() error { return func() error { return s.infra.Archive(ctx, archived) } }
	return []refusal{
		{"read-only user", s.with(collaborator("read"), collaborator("write")), nil, 12,
			pushing + ": User permission denied for writing" + fix},
		{"protected branch", protect(forge.Protection{}), nil, 13,
			"branch-takes-no-push: Branch main takes no push of the token's owner\nA promotion ends before its first commit has arrived.\n" +
				"Seen: the forge's rules of the branch: the branch is protected\nTo fix it: Let the App, or the token's owner, bypass these rules, always and not for pull requests alone. " +
				"Or set mode to pull-request, or to first-pull-request with such a bypass.\n" +
				"Errors found: the preflight found what would break the promotion, nothing was pushed: Branch main takes no push of the token's owner [branch-takes-no-push]"},
		{"the same without a preflight", protect(forge.Protection{}), []string{"preflight=off"}, 12,
			pushing + ": Not allowed to push to protected branch main" + fix},
		{"protected files", protect(forge.Protection{Push: true, Files: "apps/**/kustomization.yaml"}), nil, 12,
			pushing + ": branch main is protected from changing file apps/SERVICE/overlays/production/kustomization.yaml" + fix},
		{"policy of a hook", hook(`printf 'Deployments are frozen until Monday.\n::error::forged\n' >&2; exit 1`), nil, 12,
			pushing + ": Deployments are frozen until Monday. ::error::forged" + fix},
		{"hook without words", hook("exit 1"), nil, 12, pushing + fix},
		{"archived repository", s.with(archive(true), archive(false)), nil, 13,
			foreseen("access denied: check that the token or key is valid and may read and write the repository "+
				"(authorization failed: This repo is archived. You can view files and clone it, but cannot push or open issues/pull-requests.)",
				"Take the repository out of the archive, or set repository to the one that took its place.")},
	}
}

// foreseen is what the preflight says of a forge that takes no push.
func foreseen(seen, fix string) string {
	return "push-refused: The Git server does not take a push to branch main\nA promotion ends before its first commit has arrived.\n" +
		"Seen: asking to push to FORGE/OWNER/infra.git: " + seen + "\nTo fix it: " + fix + "\n" +
		"Errors found: the preflight found what would break the promotion, nothing was pushed: The Git server does not take a push to branch main [push-refused]"
}

// TestForgeRefusesInTheMiddle protects the branch while the candidate has a
// part of the traffic: the run cannot go on, leaves the traffic, and says how to
// go on or back. Started again under a rule that lets it, it goes on.
func TestForgeRefusesInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newForgeSite(t)
	r := s.begins("promote", "image="+s.Image+":v2.0.0", "steps=10@5s,100")
	r.until("baking 10 %")
	s.must(s.infra.Protect(t.Context(), forge.Branch, forge.Protection{}))
	r.wait()
	s.fails(r, 12, "Push refused: 100 %: pushing to FORGE/OWNER/infra.git: refused by the server: pre-receive hook declined: "+
		"Not allowed to push to protected branch main: let the token's owner push to the branch, or change the rule")
	r.says("To continue:\n", "To roll it back:\n")
	s.must(s.infra.Unprotect(t.Context(), forge.Branch))
	s.runs("promote", "image="+s.Image+":v2.0.0", "steps=10,100").exits(0)
	s.settled("v2.0.0")
}

// TestForgeLostRace lets somebody else push while the forge has each of our
// pushes in its hands: the same change is made again on top of theirs.
func TestForgeLostRace(t *testing.T) {
	t.Parallel()
	s := newForgeSite(t)
	folder := t.TempDir()
	held, freed := filepath.Join(folder, "held"), filepath.Join(folder, "freed")
	// Every second push of ours is held until somebody else has pushed.
	s.must(s.infra.Hook("pre-receive", `[ "$GITEA_PUSHER_NAME" = `+s.ci+` ] || exit 0
if [ -e `+freed+` ]; then rm `+freed+`; exit 0; fi
touch `+held+`
until [ -e `+freed+` ]; do sleep 0.05; done`))
	r := s.begins("promote", "image="+s.Image+":v2.0.0", "steps=10,100")
	for _, name := range []string{"first", "second", "third"} {
		s.eventually("a push is held", func() bool { _, err := os.Stat(held); return err == nil })
		s.other(name)
		s.must(os.Remove(held))
		s.must(os.WriteFile(freed, nil, 0o644))
	}
	r.wait().exits(0)
	s.settled("v2.0.0")
	want := []string{
		"Change first", s.Service + " production: candidate HASH at 0 % (v2.0.0)",
		"Change second", s.Service + " production: 10 % to HASH (v2.0.0)",
		"Change third", s.Service + " production: 100 % to HASH (v2.0.0)",
	}
	if diff := cmp.Diff(want, strings.Split(withoutHashes(strings.Join(s.commits(), "\n")), "\n")); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
}

// TestForgeNoPartialFetch promotes on a forge that gives out no single folders.
func TestForgeNoPartialFetch(t *testing.T) {
	t.Parallel()
	s := newForgeSite(t)
	s.must(s.infra.NoPartialClone())
	if offer := s.offer(); !strings.Contains(offer, "shallow") || strings.Contains(offer, "filter") {
		t.Fatalf("the forge still offers partial fetches: %s", offer)
	}
	s.runs("promote", "image="+s.Image+":v2.0.0").exits(0)
	s.settled("v2.0.0")
	s.runs("rollback").exits(0)
	s.settled("v1.0.0")
}

// offer is what the forge says that it can do for who fetches.
func (s *forgeSite) offer() string {
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.URL+"/info/refs?service=git-upload-pack", nil)
	s.must(err)
	request.SetBasicAuth(s.ci, s.token)
	response, err := http.DefaultClient.Do(request)
	s.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	s.must(err)
	return string(text)
}

// TestForgeRenamed renames the infra repository. The forge redirects from the
// old name, but Argo CD follows no redirect, so its Application is given the
// new one; a workflow that still has the old one is told.
func TestForgeRenamed(t *testing.T) {
	t.Parallel()
	s := newForgeSite(t)
	old := s.infra.FullName()
	s.must(s.infra.Rename(t.Context(), "deployments"))
	s.URL, s.Dir = s.infra.URL(), s.infra.Folder()
	s.must(unstructured.SetNestedField(s.App.Object, s.URL, "spec", "source", "repoURL"))
	s.must(kube.Deploy(t.Context(), s.App))
	r := s.runs("promote", "repository="+old, "image="+s.Image+":v2.0.0")
	s.fails(r, 3, "Bad input: application SERVICE does not deploy apps/SERVICE/overlays/production of FORGE/OWNER/infra.git, "+
		"it deploys apps/SERVICE/overlays/production of FORGE/OWNER/deployments.git: set application, repository and path to what belongs together")
	s.runs("promote", "image="+s.Image+":v2.0.0").exits(0)
	s.settled("v2.0.0")
}

// TestForgeTokenRevoked takes the token away while the candidate has a part of
// the traffic.
func TestForgeTokenRevoked(t *testing.T) {
	t.Parallel()
	s := newForgeSite(t)
	r := s.begins("promote", "image="+s.Image+":v2.0.0", "steps=10@5s,100")
	r.until("baking 10 %")
	s.must(s.forge.Revoke(t.Context(), s.ci))
	r.wait().exits(4).says("title=Not allowed::100 %25: ", "infra.git: access denied: check that the token or key is valid and may read and write the repository "+ // at the read or the push
		"(authentication required: Failed to authenticate user)")
	if n := len(s.commits()); n != 2 {
		t.Errorf("%d commits, want 2: %q", n, s.commits())
	}
}
