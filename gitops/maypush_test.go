package gitops_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// readers lets anybody read and answers those who would write with a status.
func readers(status int, said string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("service") == "git-receive-pack" || strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
				http.Error(w, said, status)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func TestMayPush(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		around func(http.Handler) http.Handler
		is     error
		want   string
	}{
		"yes": {nil, nil, ""},
		"no credentials": {readers(http.StatusUnauthorized, "sign in\n::error::"+token), remote.ErrAuth,
			"access denied: check that the token or key is valid and may read and write the repository (authentication required: sign in ::error::***)"},
		"read-only": {readers(http.StatusForbidden, "Write access to repository not granted."), remote.ErrAuth,
			"access denied: check that the token or key is valid and may read and write the repository (authorization failed: Write access to repository not granted.)"},
		"hidden": {readers(http.StatusNotFound, "no"), remote.ErrNotFound,
			"not found: check the address, and that the token or key may see it"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, gittest.Repository{}, infra(), test.around)
			r := open(t, remote.Config{URL: s.url, Branch: "main", Token: token})
			if _, err := r.Tip(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := s.git(t, "for-each-ref")
			err := r.MayPush(t.Context())
			switch {
			case test.is == nil && err != nil:
				t.Error(err)
			case test.is != nil && (!errors.Is(err, test.is) || err.Error() != "asking to push to "+s.url+": "+test.want):
				t.Errorf("error %v, want %s", err, test.want)
			}
			if after := s.git(t, "for-each-ref"); after != before {
				t.Errorf("the references became\n%s\nfrom\n%s", after, before)
			}
		})
	}
}

func TestMayPushDown(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), readers(http.StatusBadGateway, "down"))
	err := open(t, remote.Config{URL: s.url, Branch: "main"}).MayPush(t.Context())
	if err == nil || errors.Is(err, remote.ErrAuth) || errors.Is(err, remote.ErrNotFound) {
		t.Errorf("error %v, want one that says neither yes nor no", err)
	}
}

// TestMayPushSSH has a deploy key that may only read, in the words of the
// hosts.
func TestMayPushSSH(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		said string
		is   error
	}{
		"yes":     {"", nil},
		"trouble": {"boom", nil},
		"GitHub":  {"ERROR: The key you are authenticating with has been marked as read only.", remote.ErrAuth},
		"GitLab":  {"ERROR: This deploy key does not have write access to this project.", remote.ErrAuth},
		"Gitea":   {"Gitea: Deploy Key: 1:ci is not authorized to write to acme/infra.", remote.ErrAuth},
	} {
		said, is := test.said, test.is
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host, user := newKey(t), newKey(t)
			addr := serveSSH(t, host, user, said)
			s := serve(t, gittest.Repository{}, infra(), nil)
			r := open(t, remote.Config{URL: "ssh://git@" + addr + s.dir, Branch: "main", KnownHosts: host.knownHost(addr), SSHKey: user.private})
			if _, err := r.Tip(t.Context()); err != nil {
				t.Fatal(err)
			}
			err := r.MayPush(t.Context())
			if is != nil && !errors.Is(err, is) || is == nil && errors.Is(err, remote.ErrAuth) || (err == nil) != (said == "") {
				t.Errorf("error %v, want %v", err, is)
			}
			if err != nil && !strings.Contains(err.Error(), strings.TrimPrefix(said, "ERROR: ")) {
				t.Errorf("error %v does not say %q", err, said)
			}
		})
	}
}
