package gitops_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// repeated is a change that may take the place of what is the same.
func repeated(change gitops.Change) gitops.Change {
	change.Repeats = func(_, base, _ gitops.Snapshot) (map[string][]byte, error) { return change.Edit(base) }
	return change
}

const proposal = "promote-web-prod.3f9c-10"

func TestPropose(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	change := repeated(write("apps/web/overlays/prod/k.yaml", "mine"))
	head, err := s.open(t).Propose(t.Context(), proposal, change)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.git(t, "rev-parse", proposal); got != head.Hash {
		t.Errorf("the branch is at %s, want %s", got, head.Hash)
	}
	if got := s.git(t, "log", "--format=%s", "main"); got != "Start the infra repository" {
		t.Errorf("main has %q, want it as it was", got)
	}
	other := write("apps/web/overlays/prod/k.yaml", "mine")
	other.Subject = "Another"
	if _, err := s.open(t).Propose(t.Context(), proposal, other); !errors.Is(err, gitops.ErrTaken) {
		t.Errorf("error %v of a change that is in nobody's place, want ErrTaken", err)
	}
	s.rival(t, "README.md", "moved")
	again, err := s.open(t).Propose(t.Context(), proposal, change)
	if err != nil || again.Hash != s.git(t, "rev-parse", proposal) || s.git(t, "rev-parse", proposal+"^") != s.git(t, "rev-parse", "main") {
		t.Errorf("proposed again: %s, %v; want it on main in the place of %s", again.Hash, err, head.Hash)
	}
	change.Made = again.Hash
	s.rival(t, "README.md", "moved again")
	if there, err := s.open(t).Propose(t.Context(), proposal, change); err != nil || there.Hash != again.Hash {
		t.Errorf("proposed a third time: %s, %v; want %s, which was made", there.Hash, err, again.Hash)
	}
}

// Hosts list many branches, of which few are read.
func TestProposeBesideManyBranches(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	for _, name := range strings.Split("a b c d e f g h i j k l m", " ") {
		s.git(t, "branch", "b/"+name, "main")
	}
	change := repeated(write("apps/web/overlays/prod/k.yaml", "mine"))
	first, err := s.open(t).Propose(t.Context(), proposal, change)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.open(t).Propose(t.Context(), proposal, change); err != nil || again.Hash != first.Hash {
		t.Errorf("proposed again: %s, %v; want %s", again.Hash, err, first.Hash)
	}
}

func TestProposeWhereTheBranchShowsIt(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	tip, err := s.open(t).Propose(t.Context(), proposal, write("apps/web/overlays/prod/k.yaml", "images: []\n"))
	if !errors.Is(err, gitops.ErrUnchanged) || tip.Hash != s.git(t, "rev-parse", "main") {
		t.Errorf("proposed what is there: %s, %v; want ErrUnchanged with the tip", tip.Hash, err)
	}
}

func TestProposeRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	s.git(t, "branch", proposal, "main")
	if err := gittest.Commit(s.dir, proposal, "Somebody else's", fstest.MapFS{"apps/web/overlays/prod/k.yaml": {Data: []byte("theirs")}}); err != nil {
		t.Fatal(err)
	}
	theirs := s.git(t, "rev-parse", proposal)
	for _, test := range []struct{ name, branch, want string }{
		{"another change", proposal, "branch " + proposal + " of " + s.url + ": the branch is there and shows something else, at commit " + theirs[:12]},
		{"the branch itself", "main", `branch "main": expected a name that begins with promote-`},
		{"no name", "promote-a..b", `branch "promote-a..b": expected the short name of a branch, such as main`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := s.open(t).Propose(t.Context(), test.branch, write("apps/web/overlays/prod/k.yaml", "mine"))
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
	if got := s.git(t, "rev-parse", proposal); got != theirs {
		t.Errorf("the branch is at %s, want %s as before", got, theirs)
	}
}

func TestProposeAfterLostAnswer(t *testing.T) {
	t.Parallel()
	lost := on(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
	s := serve(t, gittest.Repository{}, infra(), lost)
	head, err := s.open(t).Propose(t.Context(), proposal, write("apps/web/overlays/prod/k.yaml", "mine"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.git(t, "rev-parse", proposal); got != head.Hash {
		t.Errorf("the branch is at %s, want %s", got, head.Hash)
	}
}

// TestProposeReadsNoMore has somebody make the branch beforehand: whoever asks the Edit of what
// stands there, as of an overlay, renders what anybody wrote.
func TestProposeReadsNoMore(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	s.git(t, "branch", proposal, "main")
	if err := gittest.Commit(s.dir, proposal, "Somebody else's", fstest.MapFS{"apps/web/overlays/prod/k.yaml": {Data: []byte("mine")}}); err != nil {
		t.Fatal(err)
	}
	theirs := s.git(t, "rev-parse", proposal)
	change := write("apps/web/overlays/prod/k.yaml", "mine")
	edit := change.Edit
	change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
		if tip.Commit.Hash == theirs {
			t.Error("the edit is made on what somebody else has pushed")
		}
		return edit(tip)
	}
	change.Repeats = func(_, base, head gitops.Snapshot) (map[string][]byte, error) {
		if main := s.git(t, "rev-parse", "main"); base.Commit.Hash != main || head.Commit.Hash != theirs {
			t.Errorf("it is to repeat %s on %s", head.Commit.Hash, base.Commit.Hash)
		}
		return change.Edit(base)
	}
	if _, err := s.open(t).Propose(t.Context(), proposal, change); err != nil {
		t.Error(err)
	}
	if err := gittest.Commit(s.dir, proposal, "One more", fstest.MapFS{"more": {Data: []byte("mine")}}); err != nil {
		t.Fatal(err)
	}
	change.Repeats = func(_, base, _ gitops.Snapshot) (map[string][]byte, error) {
		t.Error("it is asked of a commit on one that the branch has not")
		return change.Edit(base)
	}
	if _, err := s.open(t).Propose(t.Context(), proposal, change); !errors.Is(err, gitops.ErrTaken) {
		t.Errorf("error %v, want ErrTaken", err)
	}
}

// TestProposeTakesNothingElse has a branch that shows the change, and something else: a file, a
// mode, a link in a file's place.
func TestProposeTakesNothingElse(t *testing.T) {
	t.Parallel()
	const file = "apps/web/overlays/prod/k.yaml"
	for name, theirs := range map[string]fstest.MapFS{
		"a file more": {file: {Data: []byte("mine")}, "more": {Data: []byte("theirs")}},
		"executable":  {file: {Data: []byte("mine"), Mode: 0o755}},
		"a link":      {file: {Data: []byte("mine"), Mode: fs.ModeSymlink}, "apps/web/overlays/prod/mine": {Data: []byte("mine")}},
	} {
		s := serve(t, gittest.Repository{}, infra(), nil)
		s.git(t, "branch", proposal, "main")
		if err := gittest.Commit(s.dir, proposal, "Somebody else's", theirs); err != nil {
			t.Fatal(err)
		}
		if _, err := s.open(t).Propose(t.Context(), proposal, repeated(write(file, "mine"))); !errors.Is(err, gitops.ErrTaken) {
			t.Errorf("%s: error %v, want ErrTaken", name, err)
		}
	}
}
