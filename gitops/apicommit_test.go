package gitops_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// forgeAPI makes commits in a repository, as a forge does.
type forgeAPI struct {
	server
	t     *testing.T
	calls int
	race  func(call int)       // before a commit is made
	lose  func(call int) error // the answer in the place of a good one
}

func (f *forgeAPI) commit(_ context.Context, c gitops.APICommit) error {
	f.calls++
	if f.race != nil {
		f.race(f.calls)
	}
	if f.git(f.t, "rev-parse", c.Branch) != c.Head {
		return gitops.ErrStale
	}
	files := fstest.MapFS{}
	for name, content := range c.Files {
		files[name] = &fstest.MapFile{Data: content}
	}
	if err := gittest.Commit(f.dir, c.Branch, c.Subject+"\n\n"+c.Body, files); err != nil {
		return err
	}
	if f.lose != nil {
		return f.lose(f.calls)
	}
	return nil
}

func byAPI(t *testing.T) (*gitops.Repo, *forgeAPI) {
	t.Helper()
	api := &forgeAPI{server: serve(t, gittest.Repository{}, infra(), nil), t: t}
	r := api.open(t)
	r.API = api.commit
	return r, api
}

func TestPublishByAPI(t *testing.T) {
	t.Parallel()
	gone := errors.New("502 Bad Gateway")
	for _, test := range []struct {
		name  string
		race  bool
		lose  error
		calls int
	}{
		{"at once", false, nil, 1},
		{"after a lost race", true, nil, 2},
		{"with a lost answer", false, gone, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, api := byAPI(t)
			want := []string{"Write apps/web/overlays/prod/k.yaml", "Start the infra repository"}
			if test.race {
				want = []string{want[0], "Rival", want[1]}
				api.race = func(call int) {
					if call == 1 {
						api.rival(t, "README.md", "theirs")
					}
				}
			}
			api.lose = func(int) error { return test.lose }
			made, err := r.Publish(t.Context(), write("apps/web/overlays/prod/k.yaml", "mine"))
			if err != nil {
				t.Fatal(err)
			}
			if tip := api.git(t, "rev-parse", "main"); made.Hash != tip || api.calls != test.calls {
				t.Errorf("made %s after %d calls, want %s after %d", made.Hash, api.calls, tip, test.calls)
			}
			if diff := cmp.Diff(want, api.subjects(t)); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProposeByAPI(t *testing.T) {
	t.Parallel()
	r, api := byAPI(t)
	head, err := r.Propose(t.Context(), proposal, write("apps/web/overlays/prod/k.yaml", "mine"))
	if err != nil {
		t.Fatal(err)
	}
	if got := api.git(t, "rev-parse", proposal); got != head.Hash || api.git(t, "rev-parse", proposal+"^") != api.git(t, "rev-parse", "main") {
		t.Errorf("the branch is at %s, want %s on top of main", got, head.Hash)
	}
}

func TestPublishByAPIRefused(t *testing.T) {
	t.Parallel()
	r, api := byAPI(t)
	_, err := r.Publish(t.Context(), write("tools/run.sh", "mine"))
	if want := "tools/run.sh is a link or may be executed: the forge's API makes plain files alone: set commit to git, or make it a plain file"; !errors.Is(err, gitops.ErrPlainOnly) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	r.API = func(context.Context, gitops.APICommit) error { return remote.ErrRefused }
	if _, err := r.Publish(t.Context(), write("apps/web/overlays/prod/k.yaml", "mine")); !errors.Is(err, remote.ErrRefused) {
		t.Errorf("error %v, want ErrRefused", err)
	}
	if got := api.subjects(t); len(got) != 1 || api.calls != 0 {
		t.Errorf("commits %q after %d calls, want one and none", got, api.calls)
	}
}
