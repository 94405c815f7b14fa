package gitops_test

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// TestModesAreGits asks git what it takes the entries of a tree for, whatever modes they are
// written with: what reads another kind than git checks out sees another repository.
func TestModesAreGits(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, fstest.MapFS{"d/f": {Data: []byte("apps")}}, nil)
	folder, file := s.git(t, "rev-parse", "main:d"), s.git(t, "rev-parse", "main:d/f")
	before := s.commit(t, tree(t, "100644", file))
	was := s.at(t, before)
	for _, mode := range []string{
		"40000", "040000", "40755", "40777", "0040755", "1040000", "100644", "0100644", "100664", "100744", "100755", "100100", "1100644",
		"120000", "120777", "0120000", "160000", "160755", "0160000", "140000", "60000", "644", "755", "0", "10644", "40", "20000", "777777",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			for _, hash := range []string{file, folder} {
				odd := s.commit(t, tree(t, mode, hash))
				listed := s.git(t, "ls-tree", odd, "a")
				gitsMode, rest, _ := strings.Cut(listed, " ")
				kind, _, _ := strings.Cut(rest, " ")
				if isFolder := hash == folder; (kind == "tree") != isFolder && kind != "commit" {
					continue // git cannot read it either
				}
				at := s.at(t, odd)
				entries, err := fs.ReadDir(at.Tree, ".")
				if err != nil || len(entries) != 1 || entries[0].Type() != typeOf(gitsMode) {
					t.Fatalf("%v, %v; git says %s", entries, err, listed)
				}
				if info, err := fs.Lstat(at.Tree, "a"); kind != "commit" && (err != nil || info.Mode() != fileMode(gitsMode)) {
					t.Errorf("mode %v, %v; git says %s", info, err, listed)
				}
				differs := s.git(t, "diff", "--raw", "--no-renames", before, odd) != ""
				if changed, err := gitops.Changed(was, at); err != nil || (len(changed) > 0) != differs {
					t.Errorf("changed: %v, %v; git says %t", changed, err, differs)
				}
			}
		})
	}
}

// tree is a tree object with one entry.
func tree(t *testing.T, mode, hash string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(hash)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(mode+" a\x00"), raw...)
}

// typeOf is the type of what git lists with a mode.
func typeOf(mode string) fs.FileMode { return fileMode(mode).Type() }

func fileMode(mode string) fs.FileMode {
	return map[string]fs.FileMode{
		"040000": fs.ModeDir | 0o755, "100644": 0o644, "100755": 0o755, "120000": fs.ModeSymlink | 0o777, "160000": fs.ModeIrregular,
	}[mode]
}

// commit makes a commit of a tree object, whatever is in that.
func (s server) commit(t *testing.T, tree []byte) string {
	t.Helper()
	hash, err := gittest.Git(s.dir, bytes.NewReader(tree), "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
	if err != nil {
		t.Fatal(err)
	}
	return s.git(t, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", "-p", "main", "-m", "Odd", hash)
}

// at reads a commit of the repository, which a branch gets for that.
func (s server) at(t *testing.T, commit string) gitops.Snapshot {
	t.Helper()
	s.git(t, "update-ref", "refs/heads/at-"+commit, commit)
	tip, err := open(t, remote.Config{URL: s.url, Branch: "at-" + commit}).Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tip
}
