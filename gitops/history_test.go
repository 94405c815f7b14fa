package gitops_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/gittest"
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

func TestLog(t *testing.T) {
	t.Parallel()
	for name, made := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, made, infra(), nil)
			s.grow(t, 250)
			var got []string
			for c, err := range s.open(t).Log(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, c.Hash+" "+c.Subject+" "+c.Trailer("Promotion"))
			}
			want := strings.Split(s.git(t, "log", "--format=%H %s %(trailers:key=Promotion,valueonly,separator=)", "main"), "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLogFetchesAsItGoes(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	s := serve(t, gittest.Repository{}, infra(), counting(&requests))
	s.grow(t, 250)
	n := 0
	for _, err := range s.open(t).Log(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 20 {
			break
		}
	}
	if got := requests.Load(); got != 3 {
		t.Errorf("20 commits took %d requests, want 3: references, tip, one deepening", got)
	}
}

func TestLogBranchMissing(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	for _, err := range open(t, gitops.Remote{URL: s.url, Branch: "mian"}).Log(t.Context()) {
		want := "branch mian of " + s.url + ": not found: expected one of main"
		if !errors.Is(err, gitops.ErrNotFound) || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestContains compares with git's own answer in a history with a merge.
func TestContains(t *testing.T) {
	t.Parallel()
	for name, made := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, made, infra(), nil)
			s.grow(t, 40)
			s.merge(t)
			s.grow(t, 3)
			commits := map[string]string{}
			for _, rev := range []string{"main", "main~1", "main~3", "main~3^2", "main~3^2~1", "main~4", "main~30", "lost"} {
				commits[rev] = s.git(t, "rev-parse", rev)
			}
			r := s.open(t)
			for tip, tipHash := range commits {
				for rev, hash := range commits {
					want := tip == rev || !strings.Contains(s.git(t, "merge-base", "--all", tip, rev), "\n") && s.git(t, "merge-base", tip, rev) == hash
					got, err := r.Contains(t.Context(), tipHash, hash)
					if tip == "lost" && rev != "lost" {
						if !errors.Is(err, gitops.ErrNotFound) {
							t.Errorf("Contains(%s, %s): error %v, want ErrNotFound", tip, rev, err)
						}
						continue
					}
					if err != nil || got != want {
						t.Errorf("Contains(%s, %s) = %t, %v, want %t", tip, rev, got, err, want)
					}
				}
			}
		})
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

// TestContainsParentIsQuick: a deployment that still shows the commit before
// ours does not make us read the whole history.
func TestContainsParentIsQuick(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	s := serve(t, gittest.Repository{}, infra(), counting(&requests))
	s.grow(t, 100)
	r := s.open(t)
	before, err := r.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ours := publish(t, r, map[string][]byte{"new": []byte("new")})
	requests.Store(0)
	for _, test := range []struct {
		tip, commit string
		want        bool
	}{
		{before.Commit.Hash, ours.Hash, false},
		{ours.Hash, before.Commit.Hash, true},
		{ours.Hash, ours.Hash, true},
	} {
		if got, err := r.Contains(t.Context(), test.tip, test.commit); err != nil || got != test.want {
			t.Errorf("Contains(%s, %s) = %t, %v, want %t", test.tip, test.commit, got, err, test.want)
		}
	}
	if got := requests.Load(); got > 1 {
		t.Errorf("%d requests, want at most 1", got)
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	for name, made := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, made, infra(), nil)
			s.grow(t, 60)
			r := s.open(t)
			full := s.git(t, "rev-parse", "main~50")
			for _, name := range []string{full, full[:10], strings.ToUpper(full[:10])} {
				then, err := r.At(t.Context(), name)
				if err != nil {
					t.Fatal(err)
				}
				got, err := fs.ReadFile(then.Tree, "apps/web/counter")
				if err != nil || string(got) != "9" || then.Commit.Subject != "Step 9" {
					t.Errorf("at %s: %q, %v in %q", name, got, err, then.Commit.Subject)
				}
			}
		})
	}
}

func TestAtUnknown(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	s.grow(t, 5)
	s.merge(t)
	lost := s.git(t, "rev-parse", "lost")
	tests := map[string]string{
		lost:                    "commit " + lost + ": not found in the history of branch main",
		"0123456789":            "commit 0123456789: not found in the history of branch main",
		"abc":                   `commit "abc": expected 7 to 40 hexadecimal digits`,
		"v1.0.0\n::error::":     `commit "v1.0.0 ::error::": expected 7 to 40 hexadecimal digits`,
		"main":                  `commit "main": expected 7 to 40 hexadecimal digits`,
		"gggggggg":              `commit "gggggggg": expected 7 to 40 hexadecimal digits`,
		strings.Repeat("a", 41): `commit "` + strings.Repeat("a", 41) + `": expected 7 to 40 hexadecimal digits`,
	}
	for name, want := range tests {
		_, err := s.open(t).At(t.Context(), name)
		if err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", name, err, want)
		}
	}
}
