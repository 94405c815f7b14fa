package gitops

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/acme/knative-promote/gitops/store"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

var merges = flag.Int("merges", 150, "how many merges are compared with Git's")

// A history is files by path, which people edit.
type history map[string]string

// lines are few and alike, so that a change could be anybody's, or all different.
func lines(random *rand.Rand) (text string) {
	for n := range random.IntN(14) {
		if random.IntN(3) > 0 {
			text += fmt.Sprintf("line %d\n", n)
			continue
		}
		text += fmt.Sprintf("%s\n", []string{"a", "b", "c", "- name: x", "  newTag: v1", "a\r"}[random.IntN(6)])
	}
	return text
}

func anyHistory(random *rand.Rand) history {
	if random.IntN(2) == 0 {
		return history{"one.yaml": lines(random) + lines(random)}
	}
	files := history{"README.md": "words\n"}
	for _, folder := range []string{"a", "a/b", "c", "c/d/e"} {
		for n := range 1 + random.IntN(2) {
			files[fmt.Sprintf("%s/%d.yaml", folder, n)] = lines(random)
		}
	}
	return files
}

// edited is what somebody makes of files in one commit.
func (h history) edited(random *rand.Rand) history {
	files := maps.Clone(h)
	for range 1 + random.IntN(5) {
		all := slices.Sorted(maps.Keys(files))
		if len(all) == 0 {
			return files
		}
		name := all[random.IntN(len(all))]
		switch kind := random.IntN(12); {
		case kind < 7 || len(h) == 1:
			files[name] = editedLines(random, files[name])
		case kind == 7:
			delete(files, name)
		case kind == 8:
			files[path.Join(path.Dir(name), fmt.Sprintf("new-%d.yaml", random.IntN(2)))] = lines(random)
		case kind == 9:
			files[fmt.Sprintf("moved/%d.yaml", random.IntN(2))] = files[name]
			delete(files, name)
		case kind == 10: // the folder is moved
			for _, other := range slices.Sorted(maps.Keys(files)) {
				if rest, below := strings.CutPrefix(other, path.Dir(name)+"/"); below && path.Dir(name) != "." {
					files["elsewhere/"+rest] = files[other]
					delete(files, other)
				}
			}
		default: // a file in the place of a folder, and the other way round
			for other := range files {
				if strings.HasPrefix(other, "c/d/") {
					delete(files, other)
				}
			}
			files["c/d"] = lines(random)
		}
	}
	return files
}

func editedLines(random *rand.Rand, text string) string {
	all := strings.SplitAfter(text, "\n")
	at := random.IntN(len(all))
	switch random.IntN(8) {
	case 0:
		return strings.Join(slices.Delete(all, at, at+1), "")
	case 4:
		return strings.TrimSuffix(text, "\n")
	case 5: // some lines come twice
		some := slices.Clone(all[at : at+random.IntN(len(all)-at)])
		return strings.Join(slices.Insert(all, random.IntN(len(all)+1), some...), "")
	case 1:
		return strings.Join(slices.Insert(all, at, lines(random)), "")
	case 2: // moved
		line := all[at]
		all = slices.Delete(all, at, at+1)
		return strings.Join(slices.Insert(all, random.IntN(len(all)+1), line), "")
	}
	all[at] = "  newTag: v2\n"
	return strings.Join(all, "")
}

// commits is a stream for git fast-import of a base with two that come from it.
func (h history) commits(random *rand.Rand, n int) string {
	var stream strings.Builder
	for i, side := range []struct {
		name  string
		files history
	}{{"base", h}, {"tip", h.edited(random)}, {"head", h.edited(random)}} {
		fmt.Fprintf(&stream, "commit refs/heads/%s-%d\nmark :%d\ncommitter x <x@example.com> 1700000000 +0000\ndata 0\n", side.name, n, 3*n+i+1)
		if side.name != "base" {
			fmt.Fprintf(&stream, "from :%d\n", 3*n+1)
		}
		stream.WriteString("deleteall\n")
		for _, name := range slices.Sorted(maps.Keys(side.files)) {
			fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", name, len(side.files[name]), side.files[name])
		}
	}
	return stream.String()
}

// TestMergeAsGit merges what people have edited at random: what Git merges too becomes the same.
func TestMergeAsGit(t *testing.T) {
	t.Parallel()
	dir, err := gittest.Repository{}.Init(t.TempDir(), "merges", fstest.MapFS{"x": {Data: []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	var stream strings.Builder
	for n := range *merges {
		random := rand.New(rand.NewPCG(uint64(n), 1))
		stream.WriteString(anyHistory(random).commits(random, n))
	}
	if _, err := gittest.Git(dir, strings.NewReader(stream.String()), "fast-import", "--quiet"); err != nil {
		t.Fatal(err)
	}
	local, err := git.PlainOpen(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &Repo{store: store.NewLocal(objectsOf(local), dir)}
	same, both := 0, 0
	for n := range *merges {
		tree, clean := byGit(t, dir, n)
		if !clean {
			continue
		}
		both++
		switch made := merged(t, r, dir, n); made {
		case tree:
			same++
		case "":
		default:
			t.Errorf("merge %d: made %s, and Git %s", n, made, tree)
		}
	}
	t.Logf("%d of %d merges are the same as Git's, of which it makes %d without a conflict", same, *merges, both)
	if same < both/2 {
		t.Errorf("only %d of the %d that Git merges are merged", same, both)
	}
}

// merged is the tree of a merge; empty: there are conflicts.
func merged(t *testing.T, r *Repo, dir string, n int) string {
	t.Helper()
	at := func(name string) Snapshot {
		hash, err := gittest.Tip(dir, fmt.Sprintf("%s-%d", name, n))
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.commit(plumbing.NewHash(hash))
		if err != nil {
			t.Fatal(err)
		}
		return r.snapshot(t.Context(), c)
	}
	made, conflicts, err := Merge(at("base"), at("tip"), at("head"))
	if err != nil {
		t.Fatal(err)
	}
	if len(conflicts) > 0 {
		return ""
	}
	return made.Tree.(*treeFS).root.String()
}

// byGit is the tree that Git makes, and whether that is without a conflict.
func byGit(t *testing.T, dir string, n int) (tree string, clean bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "merge-tree", "--write-tree", "--no-messages", fmt.Sprintf("tip-%d", n), fmt.Sprintf("head-%d", n))
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, is := errors.AsType[*exec.ExitError](err); is && (exit.ExitCode() == 1 || exit.ExitCode() < 0) { // Git 2.39 may abort
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	return string(line), true
}
