package gitops_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// TestBehind finds the commits of a run behind the tip, also where they were reverted, and
// no message that only quotes one.
func TestBehind(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	s := serve(t, gittest.Repository{}, infra(), counting(&requests))
	r := s.open(t)
	run := gitops.Trailer{Key: "Promotion-Run", Value: "https://github.com/acme/web/actions/runs/1"}
	var want []gitops.Message
	for _, name := range []string{"one", "two"} {
		change := write(name, "content")
		change.Trailers = []gitops.Trailer{{Key: "Promotion", Value: "1"}, run}
		made, err := r.Publish(t.Context(), change)
		if err != nil {
			t.Fatal(err)
		}
		want = append([]gitops.Message{{Commit: made.Hash, Tip: made.Hash, Time: made.Time, Values: []string{"1"}}}, want...)
	}
	other := write("three", "content")
	other.Trailers = []gitops.Trailer{{Key: "Promotion-Run", Value: run.Value + "0"}, {Key: "Promotion-Reason", Value: "after " + run.Key + ": " + run.Value}}
	if _, err := r.Publish(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	fresh := s.open(t) // which has only the tip
	tip, err := fresh.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := fresh.Behind(t.Context(), tip.Commit.Hash, run, "Promotion")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, %v; want %v", got, err, want)
	}
	before := requests.Load()
	if got, err := fresh.Behind(t.Context(), tip.Commit.Hash, gitops.Trailer{Key: "Promotion", Value: "1"}, "Promotion"); err != nil || !reflect.DeepEqual(got, want) || requests.Load() != before {
		t.Errorf("asked once more, of another trailer: found %v, %v, with %d requests; want %v with none", got, err, requests.Load()-before, want)
	}
	if _, err := fresh.At(t.Context(), want[1].Commit); err != nil {
		t.Error(err)
	}
}

// TestBehindAMerge tells what a merged pull request has brought from what the branch has been at, whatever the server gives out.
func TestBehindAMerge(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]gittest.Repository{"partial": {}, "whole": {NoFilter: true, NoHashWants: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lookBehindAMerge(t, of)
		})
	}
}

func lookBehindAMerge(t *testing.T, of gittest.Repository) {
	t.Helper()
	s := serve(t, of, infra(), nil)
	base := strings.TrimSpace(s.git(t, "rev-parse", "main"))
	commit := func(message string, parents ...string) string { return commitBeside(t, s, message, parents...) }
	side := commit("Side\n\nKey: 1\nPromotion: side", base)
	merge := commit("Merge", base, side)
	tip := commit("Tip\n\nKey: 1\nPromotion: tip", merge)
	s.git(t, "update-ref", "refs/heads/main", tip)
	s.git(t, "update-ref", "refs/heads/side", side)
	r := s.open(t)
	if _, err := r.Tip(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := r.Behind(t.Context(), tip, gitops.Trailer{Key: "Key", Value: "1"}, "Promotion")
	at := func(commit string) time.Time {
		then, err := r.At(t.Context(), commit)
		if err != nil {
			t.Fatal(err)
		}
		return then.Commit.Time
	}
	want := []gitops.Message{
		{Commit: tip, Values: []string{"tip"}, Tip: tip, Time: at(tip)},
		{Commit: side, Values: []string{"side"}, Tip: merge, Time: at(side)},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, %v; want %v", got, err, want)
	}
	for name, want := range map[string]bool{tip: true, merge: true, base: true, side: false} {
		if on, err := gitops.OnBranch(t.Context(), r, name); on != want || err != nil {
			t.Errorf("OnBranch(%s) = %t, %v, want %t", name, on, err, want)
		}
	}
}

// TestBehindTooMuch has a server without parts of commits, and a large file in the past: it is asked once for what nobody reads.
func TestBehindTooMuch(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	s := serve(t, gittest.Repository{NoFilter: true}, infra(), counting(&requests))
	large := make([]byte, 33<<20)
	_, _ = rand.Read(large) // it never fails
	file := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(file, large, 0o600); err != nil {
		t.Fatal(err)
	}
	commit := "commit refs/heads/main\ncommitter Ada <ada@example.com> 1 +0000\ndata 0\n"
	stream := commit + "from refs/heads/main^0\nM 100644 " + strings.TrimSpace(s.git(t, "hash-object", "-w", file)) + " large\n\n" + commit + "D large\n\n"
	if err := os.WriteFile(file, []byte(stream), 0o600); err != nil {
		t.Fatal(err)
	}
	s.git(t, "-c", "alias.read=!git fast-import --quiet <'"+file+"'", "read")
	r := s.open(t)
	tip, err := r.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		before := requests.Load()
		if got, err := r.Behind(t.Context(), tip.Commit.Hash, gitops.Trailer{}, ""); len(got) > 0 || err != nil {
			t.Errorf("found %v, %v", got, err)
		}
		if made := requests.Load() - before; (made > 0) != (n == 0) {
			t.Errorf("look %d made %d requests", n, made)
		}
	}
}

// commitBeside makes a commit that has the files of main, and is on no branch yet.
func commitBeside(t *testing.T, s server, message string, parents ...string) string {
	t.Helper()
	args := []string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit-tree", "main^{tree}", "-m", message}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return strings.TrimSpace(s.git(t, args...))
}
