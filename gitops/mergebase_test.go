package gitops_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// TestMergeBase finds what a merge goes by, whatever the first parent of the head is, and whatever the server gives out.
func TestMergeBase(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]gittest.Repository{"partial": {}, "whole": {NoFilter: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findMergeBases(t, of)
		})
	}
}

func findMergeBases(t *testing.T, of gittest.Repository) {
	t.Helper()
	s := serve(t, of, infra(), nil)
	commit := func(message string, parents ...string) string { return commitBeside(t, s, message, parents...) }
	old := strings.TrimSpace(s.git(t, "rev-parse", "main"))
	one := commit("One", old)
	side := commit("Side", old)
	merge := commit("Merge side", one, side)
	tip := commit("Tip", merge)
	s.git(t, "update-ref", "refs/heads/main", tip)
	other, own := commit("Of nobody"), commit("Own", old)
	for name, at := range map[string]string{"own": own, "other": other} {
		s.git(t, "update-ref", "refs/heads/"+name, at)
	}
	long := longLine(t, s, one)
	r := s.open(t)
	for _, test := range []struct {
		name    string
		parents []string
		want    string
		err     error
	}{
		{"on the tip", []string{tip}, tip, nil},
		{"on an older commit", []string{one}, one, nil},
		{"the forge's merge, by then", []string{merge, own}, merge, nil},
		{"an old commit, and the tip", []string{old, tip}, tip, nil},
		{"an old commit, and one that has it behind it", []string{old, merge}, merge, nil},
		{"two newest", []string{one, side}, "", gitops.ErrSeveral},
		{"nothing in common", []string{other}, "", gitops.ErrSeveral},
		{"more than is looked at, and an old commit", []string{old, long}, "", gitops.ErrSeveral},
		{"one that is not there", []string{old, strings.Repeat("7", 40)}, "", nil},
	} {
		got, err := gitops.MergeBase(t.Context(), r, gitops.Snapshot{Commit: gitops.Commit{Hash: strings.Repeat("8", 40), Parents: test.parents}})
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %q, %v; want %q, %v", test.name, got, err, test.want, test.err)
		}
	}
	for _, head := range []string{tip, side} {
		if got, err := gitops.MergeBase(t.Context(), r, gitops.Snapshot{Commit: gitops.Commit{Hash: head, Parents: []string{old}}}); got != head || err != nil {
			t.Errorf("of %s, which the branch has: %s, %v", head, got, err)
		}
	}
}

// longLine is a commit with more commits between it and another one than are looked at.
func longLine(t *testing.T, s server, from string) string {
	t.Helper()
	commit := "commit refs/heads/long\ncommitter Ada <ada@example.com> 1 +0000\ndata 0\n"
	stream := commit + "from " + from + "\n" + strings.Repeat(commit, 1100)
	file := filepath.Join(t.TempDir(), "commits")
	if err := os.WriteFile(file, []byte(stream), 0o600); err != nil {
		t.Fatal(err)
	}
	s.git(t, "-c", "alias.read=!git fast-import --quiet <'"+file+"'", "read")
	return strings.TrimSpace(s.git(t, "rev-parse", "long"))
}
