package gitops_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// overlay is the folder that the benchmark changes, service the folder above it.
const (
	service = "apps/service-3"
	overlay = service + "/overlays/production"
)

// serviceFiles are the files of one service.
var serviceFiles = []string{
	"base/kustomization.yaml", "base/service.yaml", "base/config.yaml", "base/account.yaml",
	"overlays/production/kustomization.yaml", "overlays/production/patches/scale.yaml", "overlays/production/patches/env.yaml",
	"overlays/staging/kustomization.yaml", "overlays/staging/patches/scale.yaml", "overlays/staging/patches/env.yaml",
}

// grown makes a repository with n files, ten for each service.
func grown(b *testing.B, n int) server {
	b.Helper()
	root := b.TempDir()
	dir, err := (gittest.Repository{}).Init(root, "infra.git", nil)
	if err != nil {
		b.Fatal(err)
	}
	var stream strings.Builder
	stream.WriteString("commit refs/heads/main\ncommitter x <x@example.com> 1700000000 +0000\ndata 5\nStart\n")
	for i := range n / len(serviceFiles) {
		for _, name := range serviceFiles {
			content := strings.Repeat(fmt.Sprintf("key-%d: value of %s in service %d\n", i, name, i), 20)
			fmt.Fprintf(&stream, "M 100644 inline apps/service-%d/%s\ndata %d\n%s\n", i, name, len(content), content)
		}
	}
	if _, err := gittest.Git(dir, strings.NewReader(stream.String()), "fast-import", "--quiet"); err != nil {
		b.Fatal(err)
	}
	// As a host keeps its repositories; git fast-import packs loosely.
	if _, err := gittest.Git(dir, nil, "repack", "-a", "-d", "--quiet"); err != nil {
		b.Fatal(err)
	}
	url, stop, err := (&gittest.Server{Root: root}).Serve()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(stop)
	return server{dir, url + "/infra.git"}
}

// opened opens the branch as somebody who may commit.
func opened(b testing.TB, url string) *gitops.Repo {
	r, err := gitops.Open(remote.Config{URL: url, Branch: "main"})
	if err != nil {
		b.Fatal(err)
	}
	r.Author = gitops.Person{Name: "x", Email: "x@example.com"}
	r.Committer = r.Author
	return r
}

// publishOverlay does what a promotion does: it reads the overlay and its base
// and changes one file. What it returns has read and changed.
func publishOverlay(b testing.TB, url, content string) *gitops.Repo {
	r := opened(b, url)
	_, err := r.Publish(b.Context(), gitops.Change{Subject: "Promote", Edit: func(tip gitops.Snapshot) (map[string][]byte, error) {
		return map[string][]byte{overlay + "/kustomization.yaml": []byte(content)}, readOverlay(tip.Tree)
	}})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// readOverlay reads the overlay and its base.
func readOverlay(tree fs.FS) error {
	for _, dir := range []string{overlay, service + "/base"} {
		err := fs.WalkDir(tree, dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				_, err = fs.ReadFile(tree, path)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// publishWithGit does the same with the git command.
func publishWithGit(b *testing.B, url, content string, sparse bool) {
	work := filepath.Join(b.TempDir(), "work")
	git := func(dir string, args ...string) {
		if _, err := gittest.Git(dir, nil, args...); err != nil {
			b.Fatal(err)
		}
	}
	if sparse {
		git("", "clone", "--quiet", "--depth=1", "--filter=blob:none", "--sparse", url, work)
		git(work, "sparse-checkout", "set", overlay, service+"/base")
	} else {
		git("", "clone", "--quiet", "--depth=1", url, work)
	}
	if err := os.WriteFile(filepath.Join(work, overlay, "kustomization.yaml"), []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
	git(work, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "--all", "--message=Promote")
	git(work, "push", "--quiet", "origin", "main")
	if err := os.RemoveAll(work); err != nil {
		b.Fatal(err)
	}
}

// measure runs publish and reports, beside the time, the processor's time of
// this process, which has the server, and of the git processes of both sides.
// Unlike the time it hardly depends on what else the machine does.
func measure(b *testing.B, publish func()) {
	before := processor(b)
	for b.Loop() {
		publish()
	}
	b.ReportMetric(float64((processor(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
}

func processor(b *testing.B) time.Duration {
	b.Helper()
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return sum
}

// BenchmarkPublish publishes one change to repositories of growing size, beside
// the git command doing the same work.
func BenchmarkPublish(b *testing.B) {
	for _, files := range []int{60, 6_000, 60_000} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			s := grown(b, files)
			n := 0
			content := func() string { n++; return fmt.Sprintf("images: [%d]\n", n) }
			b.Run("gitops", func(b *testing.B) {
				measure(b, func() { publishOverlay(b, s.url, content()) })
				b.ReportMetric(resident(b, s.url, content(), ""), "resident-MB")
			})
			b.Run("git-clone", func(b *testing.B) {
				measure(b, func() { publishWithGit(b, s.url, content(), false) })
			})
			b.Run("git-sparse", func(b *testing.B) {
				measure(b, func() { publishWithGit(b, s.url, content(), true) })
			})
		})
	}
}

var deep = flag.Bool("deep", false, "let BenchmarkHistory take a history of 500,000 commits too")

// BenchmarkHistory does what a promotion and its rollback do, on branches of
// growing age: it must not matter.
func BenchmarkHistory(b *testing.B) {
	ages := []int{50, 5_000, 50_000}
	if *deep {
		ages = append(ages, 500_000)
	}
	for _, commits := range ages {
		b.Run(fmt.Sprintf("commits=%d", commits), func(b *testing.B) {
			s := grown(b, 600)
			first := s.age(b, commits)
			n := 0
			content := func() string { n++; return fmt.Sprintf("images: [%d]\n", n) }
			measure(b, func() { thereAndBack(b, s.url, content(), first) })
			b.ReportMetric(resident(b, s.url, content(), first), "resident-MB")
		})
	}
}

// age adds commits to the branch and returns the first one.
func (s server) age(b *testing.B, commits int) (first string) {
	b.Helper()
	var stream bytes.Buffer
	for i := range commits {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter x <x@example.com> %d +0000\ndata 4\nGrow\n", 1_700_000_000+i)
		if i == 0 {
			stream.WriteString("from refs/heads/main^0\n")
		}
		fmt.Fprintf(&stream, "M 100644 inline apps/service-%d/base/service.yaml\ndata %d\n%d\n", i%60, len(fmt.Sprint(i)), i)
	}
	first = s.git(b, "rev-parse", "main")
	if _, err := gittest.Git(s.dir, &stream, "fast-import", "--quiet"); err != nil {
		b.Fatal(err)
	}
	// As hosts do. Without a reverse index on disk, as Git writes one since
	// 2.41, the server sorts all objects anew for each request.
	s.git(b, "-c", "pack.writeReverseIndex=true", "-c", "pack.writeBitmapLookupTable=true", "repack", "-a", "-d", "-F", "--quiet", "--write-bitmap-index")
	s.git(b, "commit-graph", "write", "--reachable")
	return first
}

// thereAndBack changes the overlay and reads it as it is at the tip and was at
// an old commit.
func thereAndBack(b testing.TB, url, content, old string) {
	r := publishOverlay(b, url, content)
	tip, err := r.Tip(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	then, err := r.At(b.Context(), old)
	if err != nil {
		b.Fatal(err)
	}
	for _, tree := range []fs.FS{tip.Tree, then.Tree} {
		if err := readOverlay(tree); err != nil {
			b.Fatal(err)
		}
	}
}

// The variables that make TestPublishInProcess publish.
const (
	processURL     = "GITOPS_TEST_URL"
	processContent = "GITOPS_TEST_CONTENT"
	processOld     = "GITOPS_TEST_OLD"
)

// resident is the largest resident set, in MB, of a process of its own that
// publishes one change, and reads an old commit if there is one: this one
// holds the server and the generated files.
func resident(b *testing.B, url, content, old string) float64 {
	b.Helper()
	_, memory := inProcess(b, "TestPublishInProcess", processURL+"="+url, processContent+"="+content, processOld+"="+old)
	return memory
}

// TestPublishInProcess publishes once to the server that a benchmark names.
func TestPublishInProcess(t *testing.T) {
	url, content, old := os.Getenv(processURL), os.Getenv(processContent), os.Getenv(processOld)
	switch {
	case url == "":
		t.Skip("it is a part of the benchmarks")
	case old == "":
		publishOverlay(t, url, content)
	default:
		thereAndBack(t, url, content, old)
	}
}
