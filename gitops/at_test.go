package gitops_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// grow adds n commits to the branch, each with a trailer.
func (s server) grow(t *testing.T, n int) {
	t.Helper()
	var stream strings.Builder
	for i := range n {
		message := fmt.Sprintf("Step %d\n\nPromotion: p%d\n", i, i)
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter x <x@example.com> %d +0000\ndata %d\n%s\n", 1_700_000_000+i, len(message), message)
		if i == 0 {
			stream.WriteString("from refs/heads/main^0\n")
		}
		fmt.Fprintf(&stream, "M 100644 inline apps/web/counter\ndata %d\n%d\n", len(fmt.Sprint(i)), i)
	}
	if _, err := gittest.Git(s.dir, strings.NewReader(stream.String()), "fast-import", "--quiet"); err != nil {
		t.Fatal(err)
	}
}

// merge makes main a merge of itself and a side branch, and leaves a branch
// lost that is not in main.
func (s server) merge(t *testing.T) {
	t.Helper()
	author := []string{"-c", "user.name=x", "-c", "user.email=x@example.com"}
	commit := func(message string, parents ...string) string {
		args := append(author, "commit-tree", "-m", message, "main^{tree}")
		for _, p := range parents {
			args = append(args, "-p", p)
		}
		return s.git(t, args...)
	}
	side := commit("side 2", commit("side 1", "main~2"))
	s.git(t, "update-ref", "refs/heads/main", commit("merge", "main", side))
	s.git(t, "update-ref", "refs/heads/lost", commit("lost", "main~1"))
}

// remotes are the ways to a repository: over HTTP Git gives out any commit of a
// branch by its name, over a path only where it is told to. Without -every it is
// one of them, another for the kind of server of each name.
func (s server) remotes(kind string) map[string]string {
	all := map[string]string{"http": s.url, "path": s.dir, "file URL": "file://" + s.dir}
	if *every {
		return all
	}
	ways := slices.Sorted(maps.Keys(all))
	way := ways[slices.Index(slices.Sorted(maps.Keys(kinds())), kind)%len(ways)]
	return map[string]string{way: all[way]}
}

func TestAt(t *testing.T) {
	t.Parallel()
	for name, made := range kinds() {
		s := serve(t, made, infra(), nil)
		s.grow(t, 260)
		for way, url := range s.remotes(name) {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				r := open(t, remote.Config{URL: url, Branch: "main"})
				for _, back := range []int{1, 250, 50, 0} {
					full := s.git(t, "rev-parse", fmt.Sprintf("main~%d", back))
					then, err := r.At(t.Context(), strings.ToUpper(full))
					if err != nil {
						t.Fatal(err)
					}
					got, err := fs.ReadFile(then.Tree, "apps/web/counter")
					want := fmt.Sprint(259 - back)
					if err != nil || string(got) != want || then.Commit.Subject != "Step "+want || then.Commit.Hash != full {
						t.Errorf("%d back: %q, %v in %q, want %s", back, got, err, then.Commit.Subject, want)
					}
					if got, err := fs.ReadFile(then.Tree, "README.md"); err != nil || string(got) != "infra\n" {
						t.Errorf("%d back: the README is %q, %v", back, got, err)
					}
				}
			})
		}
	}
}

func TestAtUnknown(t *testing.T) {
	t.Parallel()
	const unknown = "0123456789012345678901234567890123456789"
	for name, made := range kinds() {
		s := serve(t, made, infra(), nil)
		s.grow(t, 100)
		for way, url := range s.remotes(name) {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				_, err := open(t, remote.Config{URL: url, Branch: "main"}).At(t.Context(), unknown)
				want := "commit " + unknown + ": not found in " + url
				if way != "http" && made.NoHashWants {
					want = "commit " + unknown + ": not found in the history of branch main"
				}
				if !errors.Is(err, remote.ErrNotFound) || err.Error() != want {
					t.Errorf("error %v, want %s", err, want)
				}
			})
		}
	}
}

func TestAtNoName(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]string{
		"abc": "abc", "0123456": "0123456", "v1.0.0\n::error::": "v1.0.0 ::error::", "main": "main", "": "",
		strings.Repeat("a", 41): strings.Repeat("a", 41), strings.Repeat("g", 40): strings.Repeat("g", 40),
	} {
		_, err := open(t, remote.Config{URL: "https://h.example/infra", Branch: "main"}).At(t.Context(), name)
		want := `commit "` + shown + `": expected its full name of 40 hexadecimal digits, as git rev-parse prints it`
		if err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", name, err, want)
		}
	}
}

// TestAtOutsideTheBranch reads a commit of another branch, on a host that gives
// it out.
func TestAtOutsideTheBranch(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	s.grow(t, 5)
	s.merge(t)
	then, err := s.open(t).At(t.Context(), s.git(t, "rev-parse", "lost"))
	if err != nil || then.Commit.Subject != "lost" || len(then.Commit.Parents) != 1 {
		t.Errorf("%+v, %v", then.Commit, err)
	}
}

// TestAtNeedsNoHistory reads an old commit in as many requests as a new one.
func TestAtNeedsNoHistory(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	s := serve(t, gittest.Repository{}, infra(), counting(&requests))
	s.grow(t, 250)
	if _, err := s.open(t).At(t.Context(), s.git(t, "rev-parse", "main~249")); err != nil {
		t.Fatal(err)
	}
	if got := requests.Load(); got != 2 {
		t.Errorf("%d requests, want 2: references, commit", got)
	}
}
