package gitops_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// mostMemory bounds, in MiB, what a process may take that reads a small file, also
// under the race detector, which takes some.
const mostMemory = 64

var (
	largeFile = flag.Int("large-file", 48, "MiB of each file that TestMemory has beside those that are read")
	every     = flag.Bool("every", false, "read from every kind of server in every way, not in one each")
)

// The variables that make TestReadInProcess read, and how its lines begin.
const (
	readURL  = "GITOPS_TEST_READ_URL"
	readMark = "read: "
)

// TestMemory reads the files of one folder beside others that hold far more
// than may be kept, in it and in other folders, from every kind of server.
func TestMemory(t *testing.T) {
	t.Parallel() // what is measured are other processes
	s := serve(t, gittest.Repository{}, infra(), nil)
	s.importLarge(t, *largeFile<<20)
	made := kinds()
	for _, name := range slices.Sorted(maps.Keys(made)) {
		for _, setting := range [][2]string{
			{"uploadpack.allowFilter", fmt.Sprint(!made[name].NoFilter)},
			{"uploadpack.allowAnySHA1InWant", fmt.Sprint(!made[name].NoHashWants)},
		} {
			s.git(t, "config", setting[0], setting[1])
		}
		for way, url := range s.remotes(name) {
			t.Run(name+", "+way, func(t *testing.T) {
				said, memory := inProcess(t, "TestReadInProcess", readURL+"="+url)
				t.Logf("%.0f MiB", memory)
				if memory > mostMemory {
					t.Errorf("it used %.0f MiB, want at most %d", memory, mostMemory)
				}
				if !slices.Contains(said, `read: "images: []\n", <nil>`) {
					t.Errorf("it said %q", said)
				}
				if !slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, "16777216") }) {
					t.Errorf("it said %q, want the size that is read", said)
				}
			})
		}
	}
}

// importLarge commits two files that are nearly the same, so that Git keeps one
// as the difference to the other, and one that is their difference.
func (s server) importLarge(t *testing.T, size int) {
	t.Helper()
	zeros := func() io.Reader { return io.LimitReader(zeroReader{}, int64(size)) }
	var parts []io.Reader
	file := func(path, end string) {
		head := fmt.Sprintf("M 100644 inline %s\ndata %d\n", path, size+len(end))
		parts = append(parts, strings.NewReader(head), zeros(), strings.NewReader(end+"\n"))
	}
	parts = append(parts, strings.NewReader("commit refs/heads/main\ncommitter x <x@example.com> 1700000000 +0000\ndata 5\nDumps\nfrom refs/heads/main^0\n"))
	file("apps/web/overlays/prod/dump.sql", "")
	file("apps/web/overlays/stage/dump.sql", "\nand more")
	file("data/dump.sql", "\nand others")
	if _, err := gittest.Git(s.dir, io.MultiReader(parts...), "fast-import", "--quiet"); err != nil {
		t.Fatal(err)
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestReadInProcess reads from the server that TestMemory names.
func TestReadInProcess(t *testing.T) {
	url := os.Getenv(readURL)
	if url == "" {
		t.Skip("it is a part of TestMemory")
	}
	tip, err := open(t, remote.Config{URL: url, Branch: "main"}).Tip(t.Context())
	if err != nil {
		fmt.Printf("%s%v\n", readMark, err)
		return
	}
	content, err := fs.ReadFile(tip.Tree, "apps/web/overlays/prod/k.yaml")
	fmt.Printf("%s%q, %v\n", readMark, content, err)
	_, err = fs.ReadFile(tip.Tree, "apps/web/overlays/prod/dump.sql")
	fmt.Printf("%s%v\n", readMark, err)
}

// TestManyBranches reads from a repository with many branches that are named as a promotion's, each of
// which anybody may push who may push any.
func TestManyBranches(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	tip := strings.TrimSpace(s.git(t, "rev-parse", "main"))
	packed := bytes.NewBufferString("# pack-refs with: peeled fully-peeled sorted\n" + tip + " refs/heads/main\n")
	for i := range 300_000 {
		fmt.Fprintf(packed, "%s refs/heads/promote-%0209d\n", tip, i)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "packed-refs"), packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	said, memory := inProcess(t, "TestReadInProcess", readURL+"="+s.url)
	t.Logf("%.0f MiB", memory)
	if memory > mostMemory {
		t.Errorf("it used %.0f MiB, want at most %d", memory, mostMemory)
	}
	if want := `read: "images: []\n", <nil>`; !slices.Contains(said, want) {
		t.Errorf("it said %q, want %s", said, want)
	}
}

// TestManyReferences reads from a host that lists a lot: every pull request that
// there ever was, or things without end, and zipped, after the branch or without it.
func TestManyReferences(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		lines   int
		zipped  bool
		without bool // the branch
		want    string
	}{
		"many":                {200_000, false, false, `read: "images: []\n", <nil>`},
		"endless":             {1 << 30, true, false, `read: "images: []\n", <nil>`},
		"endless and without": {1 << 30, true, true, "read: reading URL: the first 256 MiB of its list of references do not have refs/heads/main: delete branches that nobody needs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, gittest.Repository{}, infra(), func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !isRead(r) {
						next.ServeHTTP(w, r)
						return
					}
					answer := httptest.NewRecorder()
					next.ServeHTTP(answer, r)
					listed, _ := strings.CutSuffix(answer.Body.String(), "0000")
					if test.without {
						listed = strings.ReplaceAll(listed, "refs/heads/main", "refs/heads/mail")
					}
					listMore(w, listed, test.lines, test.zipped)
				})
			})
			said, memory := inProcess(t, "TestReadInProcess", readURL+"="+s.url)
			if memory > mostMemory {
				t.Errorf("it used %.0f MiB, want at most %d", memory, mostMemory)
			}
			if want := strings.ReplaceAll(test.want, "URL", s.url); !slices.Contains(said, want) {
				t.Errorf("it said %q, want %s", said, want)
			}
		})
	}
}

// listMore writes a list of references with more lines, until nobody reads.
func listMore(w http.ResponseWriter, listed string, lines int, zipped bool) {
	w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
	var to io.Writer = w
	name := strings.Repeat("x", 400)
	if zipped {
		name = strings.Repeat("x", 60_000) // few lines are as large as many, and take less time to write and to read
		w.Header().Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		defer func() { _ = z.Close() }()
		to = z
	}
	if _, err := io.WriteString(to, listed); err != nil {
		return
	}
	for i := range lines {
		line := fmt.Sprintf("%040x refs/pull/%d/%s\n", i+1, i, name)
		if _, err := fmt.Fprintf(to, "%04x%s", len(line)+4, line); err != nil {
			return
		}
	}
	_, _ = io.WriteString(to, "0000")
}

// inProcess runs one test in a process of its own, which says how much memory
// it takes at most, in MiB, and what it says.
func inProcess(t testing.TB, test string, environment ...string) (said []string, memory float64) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = slices.DeleteFunc(append(os.Environ(), environment...), func(v string) bool {
		return strings.HasPrefix(v, "GOMEMLIMIT=") || strings.HasPrefix(v, "GOGC=")
	})
	cmd.Env = append(cmd.Env, statusVariable+"=yes")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for line := range bytes.Lines(out) {
		if bytes.HasPrefix(line, []byte(readMark)) {
			said = append(said, strings.TrimSuffix(string(line), "\n"))
		}
	}
	_, after, _ := strings.Cut(string(out), "VmHWM:")
	if _, err := fmt.Sscan(after, &memory); err != nil {
		t.Fatalf("no VmHWM in %s", out)
	}
	return said, memory / 1024
}

// statusVariable makes a process print its status when its tests are done.
const statusVariable = "GITOPS_TEST_STATUS"

func TestMain(m *testing.M) {
	// The tests mostly wait for git and its server.
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if os.Getenv(statusVariable) != "" {
		status, err := os.ReadFile("/proc/self/status")
		fmt.Println(string(status), err)
		if errors.Is(err, fs.ErrNotExist) {
			code = 1
		}
	}
	os.Exit(code)
}
