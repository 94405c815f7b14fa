package gitops_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// cloned is an infra repository served with this content, and a shallow clone
// of it as actions/checkout makes one, with more files committed on top.
func cloned(t *testing.T, content, more fstest.MapFS) (repo *gitops.Repo, clone string) {
	t.Helper()
	root := t.TempDir()
	if _, err := (gittest.Repository{}).Init(root, "infra.git", content); err != nil {
		t.Fatal(err)
	}
	url, stop, err := (&gittest.Server{Root: root}).Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	clone = filepath.Join(t.TempDir(), "clone")
	run := func(dir string, args ...string) {
		if out, err := gittest.Git(dir, nil, args...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run(root, "clone", "--quiet", "--depth=1", url+"/infra.git", clone)
	for name, file := range more {
		path := filepath.Join(clone, name)
		if file.Data == nil {
			run(clone, "rm", "--quiet", name)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, file.Mode|0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(clone, "add", "--all")
	run(clone, "-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "--quiet", "--allow-empty", "--message=change")
	repo, err = gitops.Open(remote.Config{URL: url + "/infra.git", Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	return repo, clone
}

func TestChangedBetweenTheBranchAndACheckout(t *testing.T) {
	t.Parallel()
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	repo, clone := cloned(t,
		fstest.MapFS{
			"README.md": text("one\n"), "apps/a/base/service.yaml": text("a\n"), "apps/a/prod/kustomization.yaml": text("b\n"),
			"apps/b/service.yaml": text("c\n"), "run.sh": text("x\n"),
		},
		fstest.MapFS{
			"README.md": text("two\n"), "apps/a/base/new.yaml": text("new\n"), "apps/b/service.yaml": {},
			"run.sh": {Data: []byte("x\n"), Mode: 0o755},
		})
	base, err := repo.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	head, err := gitops.Checkout(t.Context(), filepath.Join(clone, "apps"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := gitops.Changed(base, head)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"README.md", "apps/a/base/new.yaml", "apps/b/service.yaml", "run.sh"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if same, err := gitops.Changed(head, head); err != nil || len(same) > 0 {
		t.Errorf("changed against itself: %v, %v", same, err)
	}
}

func TestCheckoutReadsTheCommitNotTheWorkTree(t *testing.T) {
	t.Parallel()
	_, clone := cloned(t, fstest.MapFS{"a.yaml": {Data: []byte("committed\n")}}, nil)
	if err := os.WriteFile(filepath.Join(clone, "a.yaml"), []byte("edited\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	head, err := gitops.Checkout(t.Context(), clone)
	if err != nil {
		t.Fatal(err)
	}
	content, err := head.Tree.(interface{ ReadFile(string) ([]byte, error) }).ReadFile("a.yaml")
	if err != nil || string(content) != "committed\n" {
		t.Errorf("read %q, %v", content, err)
	}
}

func TestCheckoutOutsideOfOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := gitops.Checkout(t.Context(), dir)
	if !errors.Is(err, remote.ErrNotFound) || err.Error() != "folder "+dir+" is in no Git checkout: not found" {
		t.Errorf("got %v", err)
	}
}

// TestSizeOfDifferences has files of a checkout loose, missing, packed and packed as deltas, and those of a remote, which are
// not fetched for their sizes.
func TestSizeOfDifferences(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("what two files have in common, line by line\n", 1_000)
	repo, clone := cloned(t, fstest.MapFS{"README.md": {Data: []byte("one\n")}, "gone.txt": {Data: []byte("x")}}, fstest.MapFS{
		"README.md": {Data: []byte("three\n")}, "a/long.txt": {Data: []byte(long)}, "a/longer.txt": {Data: []byte(long + "more\n")}, "gone.txt": {},
	})
	base, err := repo.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		out, err := gittest.Git(clone, nil, args...)
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(out)
	}
	rename := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]int64{"README.md": 6, "a/long.txt": int64(len(long)), "a/longer.txt": int64(len(long) + 5), "gone.txt": 0}
	sizes(t, "loose", base, clone, false, want)
	hash := git("rev-parse", "HEAD:README.md")
	loose := filepath.Join(clone, ".git", "objects", hash[:2], hash[2:])
	rename(loose, loose+".away")
	sizes(t, "missing", base, clone, false, map[string]int64{"README.md": 0, "a/long.txt": want["a/long.txt"], "a/longer.txt": want["a/longer.txt"], "gone.txt": 0})
	rename(loose+".away", loose)
	git("repack", "-a", "-d", "-q", "-f")
	if bases := git("cat-file", "--batch-all-objects", "--batch-check=%(deltabase)"); !strings.ContainsAny(bases, "123456789") {
		t.Errorf("nothing is packed as a delta: %s", bases)
	}
	sizes(t, "packed", base, clone, false, want)
	sizes(t, "of a remote", base, clone, true, map[string]int64{"README.md": 0, "a/long.txt": 0, "a/longer.txt": 0, "gone.txt": 0})
}

// sizes compares those of the differences of a checkout, or of its base where turned around, with what is wanted.
func sizes(t *testing.T, name string, base gitops.Snapshot, clone string, turned bool, want map[string]int64) {
	t.Helper()
	from := base
	to, err := gitops.Checkout(t.Context(), clone)
	if err != nil {
		t.Fatal(err)
	}
	if turned {
		from, to = to, from
	}
	all, err := gitops.Differences(from, to)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, d := range all {
		if got[d.Path], err = d.Size(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// BenchmarkChanged compares folders of growing size: the time for an entry must
// not grow with them.
func BenchmarkChanged(b *testing.B) {
	for _, entries := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			files := fstest.MapFS{}
			for i := range entries {
				files[fmt.Sprintf("data/%06d", i)] = &fstest.MapFile{}
			}
			root := b.TempDir()
			dir, err := (gittest.Repository{}).Init(root, "infra.git", files)
			if err != nil {
				b.Fatal(err)
			}
			repo, err := gitops.Open(remote.Config{URL: dir, Branch: "main"})
			if err != nil {
				b.Fatal(err)
			}
			before := tipOf(b, repo)
			if err := gittest.Commit(dir, "main", "Add", fstest.MapFS{"data/more": {}}); err != nil {
				b.Fatal(err)
			}
			after := tipOf(b, repo)
			for b.Loop() {
				if got, err := gitops.Changed(before, after); err != nil || len(got) != 1 {
					b.Fatalf("changed %v, %v", got, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(entries), "ns/entry")
		})
	}
}

func tipOf(b *testing.B, repo *gitops.Repo) gitops.Snapshot {
	b.Helper()
	tip, err := repo.Tip(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return tip
}
