package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acme/knative-promote/internal/fake/golden"
)

// trouble is what befalls the requests to one server.
type trouble struct {
	host    string // git, argocd, github or prometheus, or one of forgeRuns
	fault   string // a name of faults
	at      string // a moment of moments
	lasting bool   // from then on; else once
	do      fault  // nil: the one of that name

	hits   int // requests that it has befallen
	memory int // that the program had at most, in bytes
}

// The moments of a promotion in two commits at which trouble begins: with the
// first request, with the push of the second commit, and with the first request
// after a commit. Prometheus is asked by the preflight and after the second commit.
var moments = map[string][]string{
	"git":        {"first", "push 2", "after 2"},
	"argocd":     {"first", "after 1", "after 2"},
	"github":     {"first", "after 1", "after 2"},
	"prometheus": {"first", "after 2"},

	"statuses": {"first"}, "deployments": {"first"}, "commits": {"first"}, "pulls": {"first", "after 1"},
	"checks": {"first"}, "approvals": {"first"}, "app": {"first"},
}

// due tells whether the trouble befalls a request, and counts it.
func (x *trouble) due(host string, r *http.Request, landed int) bool {
	if !x.befalls(host, r) || x.hits > 0 && !x.lasting {
		return false
	}
	if strings.HasSuffix(r.URL.Path, "/Watch") && !x.lasting {
		return false // that is only a hint, and comes when it likes
	}
	now := map[string]bool{"first": true, "after 1": landed >= 1, "push 2": landed == 1 && isPush(r), "after 2": landed >= 2}[x.at]
	if now || x.hits > 0 {
		x.hits++
		return true
	}
	return false
}

// disturbed is a server behind what disturbs it.
func (w *world) disturbed(host string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		t := w.trouble
		due := t != nil && t.due(host, r, w.landed)
		w.mu.Unlock()
		switch {
		case !due:
			next.ServeHTTP(out, r)
		case t.do != nil:
			t.do(out, r, next)
		default:
			faults[t.fault](out, r, next)
		}
	})
}

// TestFaults lets every fault befall every server at every moment of a
// promotion, once and lastingly; without -all, a sample of them.
// However the promotion ends, which testdata/faults.txt says for each, it keeps
// the promises, and when the fault is gone another run ends it well.
func TestFaults(t *testing.T) {
	t.Parallel()
	want := readFaults(t)
	var mu sync.Mutex
	ends, memory, before := map[string]string{}, 0, sweeps.Load()
	t.Cleanup(func() {
		if golden.Update() && !t.Failed() {
			writeFaults(t, want, ends)
		}
		t.Logf("reliability: %d faults of Git, Argo CD, GitHub and Prometheus at the moments of a promotion, once or from then on: 0 promises broken, %d runs swept for secrets, 0 found; most memory %d MiB",
			len(ends), sweeps.Load()-before, memory>>20)
		if n := elsewhere().requests.Load(); n > 0 {
			t.Errorf("%d requests, with what they carry, followed a redirect to another host", n)
		}
	})
	for n, x := range troubles() {
		if n%oneOf(480, 32) != 0 {
			continue
		}
		name := x.String()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := x.befall(t)
			if !golden.Update() && end != want[name] {
				t.Errorf("it ends %s, and by testdata/faults.txt %s; go test ./cmd/knative-promote -run Faults -all -update writes it", end, want[name])
			}
			mu.Lock()
			defer mu.Unlock()
			ends[name], memory = end, max(memory, x.memory)
		})
	}
}

// troubles are all that there is, in an order in which what is side by side
// differs in moment.
func troubles() []*trouble {
	var all []*trouble
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		for _, host := range slices.Sorted(maps.Keys(moments)) {
			if strings.HasPrefix(name, "grpc") && host != "argocd" || strings.HasPrefix(name, "metrics") && host != "prometheus" {
				continue
			}
			for _, at := range moments[host] {
				all = append(all, &trouble{host: host, fault: name, at: at, lasting: true})
				if !shows(host) { // once is no more than lastingly where nothing depends on it
					all = append(all, &trouble{host: host, fault: name, at: at})
				}
			}
		}
	}
	return all
}

const faultsFile = "testdata/faults.txt"

func readFaults(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(faultsFile)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, end, _ := strings.Cut(strings.TrimSpace(line), ": ")
		ends[name] = end
	}
	return ends
}

// writeFaults writes how promotions end. What was written of the faults that were
// not tried stays.
func writeFaults(t *testing.T, written, ends map[string]string) {
	t.Helper()
	now := map[string]string{}
	for _, x := range troubles() {
		name := x.String()
		if end := cmp.Or(ends[name], written[name]); end != "" {
			now[name] = end
		}
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(now)) {
		text.WriteString(name + ": " + now[name] + "\n")
	}
	golden.File(t, faultsFile, text.String())
}

func (x *trouble) String() string {
	how := "once"
	if x.lasting {
		how = "on"
	}
	return strings.Join([]string{x.host, x.at, how, x.fault}, ", ")
}

// maxResident bounds the memory of a run in trouble, in bytes.
const maxResident = 256 << 20

// befall runs a promotion with the trouble, and says how it ended.
func (x *trouble) befall(t *testing.T) string {
	w := x.world(t)
	wait, limit := "1m", "4m" // which only a machine that is far too slow comes near
	switch {
	case !x.waits():
	case !x.lasting:
		wait, limit = "25s", "45s" // a call that gets no answer takes ten, and on a busy machine more
	case x.at == "first" && x.host != "approvals": // which are waited for first
		wait, limit = "12s", "30s" // far from the end of a call: those to Argo CD take up to 20 seconds, one after the other
	default:
		wait, limit = "12s", "45s"
	}
	args := []string{"promote", "--image", "ghcr.io/acme/product-import:v2.0.0", "--steps", "50,100", "--wait-timeout", wait, "--timeout", limit}
	env := []string{"GITHUB_RUN_ATTEMPT=2"}
	if x.host == "prometheus" {
		env, args = w.measured(t, env, args)
	}
	if run, is := forgeRuns[x.host]; is {
		env, args = append(append(env, onForge...), run.env...), instead(args, run.args...)
	}
	file := filepath.Join(t.TempDir(), "status")
	code, out := w.program(t, append([]string{"RUNNER_DEBUG=1", "STATUS_FILE=" + file}, env[1:]...), args)
	w.mu.Lock()
	hits := x.hits
	w.trouble = nil
	w.mu.Unlock()
	if hits == 0 {
		t.Errorf("the run did not come to this:\n%s", out)
	}
	if x.memory = peak(t, file); x.memory > maxResident {
		t.Errorf("it used %d MiB", x.memory>>20)
	}
	title := titleOf(t, code, out)
	if code != "0" {
		if again, more := w.program(t, env, args); again != "0" {
			t.Errorf("it ended with %s %s; without the fault the next run ended with %s:\n%s\n%s", code, title, again, out, more)
		}
	}
	if _, err := w.checkPromises(); err != nil {
		t.Error(err)
	}
	if code == "0" {
		return "0"
	}
	return code + " " + title
}

// waits reports whether the run may come to the end of its times: no answer
// comes, or none of Argo CD or Git, which are asked until they answer.
func (x *trouble) waits() bool {
	return x.fault == "silent" || x.fault == "drip" && x.host != "app" || x.lasting && (x.host == "argocd" || x.host == "git")
}

// measured starts a Prometheus, by which a promotion of two steps is judged. A
// call to it that gets no answer takes 30 seconds.
func (w *world) measured(t *testing.T, env, args []string) (withHeaders, withObjective []string) {
	t.Helper()
	metrics := &gatewayMetrics{candidate: users{rate: 200}, old: users{rate: 400}}
	server := httptest.NewServer(w.disturbed("prometheus", metrics))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return append(env, "INPUT_PROMETHEUS-HEADERS=Authorization: Bearer "+prometheusToken),
		instead(args, "--slo", "success>=99% from=kourier", "--prometheus", server.URL, "--wait-for-data", "10s", "--timeout", "4m")
}

// peak is the most memory that a program had, in bytes. The kernel's count for
// a child begins with what its parent had.
func peak(t *testing.T, file string) int {
	t.Helper()
	return kilobytes(t, file, "VmHWM:") << 10
}

// kilobytes is a figure of kernelStatus, in the file that a program has left; 0
// where the kernel does not tell.
func kilobytes(t testing.TB, file, name string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, told := strings.Cut(string(text), name)
	if !told {
		return 0 // not on Linux
	}
	var number int
	if _, err := fmt.Sscan(rest, &number); err != nil {
		t.Errorf("reading %s: %v:\n%s", name, err, text)
	}
	return number
}

var errorLine = regexp.MustCompile(`(?m)^::error title=([^:]*)::.`)

// titleOf is the title of a run's only error, which has a text too.
func titleOf(t *testing.T, code, out string) string {
	t.Helper()
	said := errorLine.FindAllStringSubmatch(out, -1)
	if (len(said) > 0) != (code != "0") || len(said) > 1 {
		t.Errorf("it ended with %s and %d errors:\n%s", code, len(said), out)
	}
	if len(said) == 0 {
		return ""
	}
	return strings.ReplaceAll(said[0][1], "%2C", ",")
}
