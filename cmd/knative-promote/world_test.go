package main

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acme/knative-promote/argo/argotest"
	"github.com/acme/knative-promote/gitops/gittest"
	"github.com/acme/knative-promote/promote/github/githubtest"
)

const namespace = "production"

// world is what one script runs against.
type world struct {
	setting
	dir, bare string
	argo      *argotest.Server
	hub       *githubtest.Server
	stops     []func()
	runs      []*process // all that were started, the newest last
	last      *process   // the one that was waited for last

	mu      sync.Mutex
	seed    string              // the first commit
	foreign []string            // commits by somebody else
	races   int                 // pushes before which somebody else still has to push
	ready   map[string]bool     // revisions that have been ready
	readyAt map[string][]string // the ones known to be when a commit was pushed
	login   bool                // Argo CD answers with a login page
	hubDown bool                // GitHub answers with errors
	vars    []string            // the environment of a step, where no script has it
	pushes  int                 // pushes so far
	atPush  func(string) bool   // told of each push before and after it is done; true: its reply is lost
}

func newWorld(env *testscript.Env) (*world, error) {
	s, err := readSetting(env.WorkDir)
	if err != nil {
		return nil, err
	}
	w := &world{setting: s, dir: env.WorkDir, ready: map[string]bool{}, readyAt: map[string][]string{}}
	env.Values["world"] = w
	if err := w.begin(env); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *world) begin(env *testscript.Env) error {
	url, err := w.startGit()
	if err != nil {
		return err
	}
	if err := w.startArgo(url); err != nil {
		return err
	}
	w.hub = &githubtest.Server{Repository: "acme/product-import", Token: hubToken, Login: "github-actions[bot]", Fault: w.hubFault}
	w.hub.AddPull(githubtest.Pull{Number: 7, State: "closed", Merge: mergeCommit})
	hub := httptest.NewServer(w.hub)
	w.stops = append(w.stops, hub.Close)
	w.environment(env, url, hub.URL)
	if !w.autoSync {
		return nil
	}
	return w.await(10*time.Second, "the example to be live", func() bool {
		live := w.argo.Service(namespace, w.service)
		return live != nil && live.IsReady() && len(w.argo.Traffic(namespace, w.service)) > 0
	})
}

// mergeCommit is the commit of the service's repository that started the run:
// pull request 7 was merged as it.
const mergeCommit = "7777777777777777777777777777777777777777"

// environment is what the Actions runner gives to a step; secrets and places
// are the workflow's inputs, scripts give the others as flags.
func (w *world) environment(env *testscript.Env, repository, hub string) {
	for _, pair := range [][2]string{
		{"GITHUB_ACTIONS", "true"}, {"GITHUB_ACTOR", "octocat"}, {"GITHUB_REPOSITORY", "acme/product-import"},
		{"GITHUB_SERVER_URL", "https://github.example.com"}, {"GITHUB_API_URL", hub}, {"GITHUB_RUN_ID", "1001"}, {"GITHUB_SHA", mergeCommit},
		{"INPUT_SERVICE", w.service}, {"INPUT_PATH", w.path}, {"INPUT_REPOSITORY", repository}, {"INPUT_TOKEN", gitToken},
		{"INPUT_APPLICATION", "the-app"}, {"INPUT_ARGOCD-SERVER", w.argo.Addr()}, {"INPUT_ARGOCD-TOKEN", argoToken},
		{"INPUT_ARGOCD-CA", string(w.argo.CA())}, {"INPUT_GITHUB-TOKEN", hubToken}, {"INPUT_WAIT-TIMEOUT", "30s"}, {"INPUT_TIMEOUT", "2m"},
		{"INGRESS", w.argo.Ingress()}, {"IMAGE", "ghcr.io/acme/product-import"}, {"SEED", w.seed}, {"OVERLAY", w.path},
	} {
		env.Setenv(pair[0], pair[1])
	}
}

func (w *world) startGit() (url string, err error) {
	root := filepath.Join(w.dir, ".git-server")
	if err := os.Mkdir(root, 0o755); err != nil {
		return "", err
	}
	content := filepath.Join(w.dir, ".seed")
	for _, from := range []string{filepath.Join("..", "..", "testdata", "infra"), filepath.Join(w.dir, "infra")} {
		if err := copyOver(content, from); err != nil {
			return "", err
		}
	}
	repository := gittest.Repository{Hooks: noForce()}
	if w.bare, err = repository.Init(root, "acme/infra.git", os.DirFS(content)); err != nil {
		return "", err
	}
	if w.seed, err = gittest.Git(w.bare, nil, "rev-parse", "main"); err != nil {
		return "", err
	}
	server := &gittest.Server{Root: root, Token: gitToken, Around: w.aroundGit}
	url, stop, err := server.Serve()
	if err != nil {
		return "", err
	}
	w.stops = append(w.stops, stop)
	return url + "/acme/infra.git", nil
}

// noForce are the hooks of a server that refuses and notes a push of what is
// not a descendant of what it replaces.
func noForce() map[string]string {
	return map[string]string{
		"update": `case "$2" in *[!0]*) git merge-base --is-ancestor "$2" "$3" || { echo "$2 $3" >> forced; exit 1; } ;; esac`,
	}
}

// aroundGit lets somebody else push first where a script wants that, and notes
// which revisions were ready when a commit came.
func (w *world) aroundGit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if w.readOnly && r.URL.Query().Get("service") == "git-receive-pack" {
			http.Error(out, "Write access to repository not granted.", http.StatusForbidden)
			return
		}
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			next.ServeHTTP(out, r)
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		push := r.ContentLength != 4 // four bytes only ask for a login
		if w.races > 0 && push {
			w.races--
			if err := w.commit("Change something else", map[string]string{fmt.Sprintf("other/%d", w.races): "of others\n"}); err != nil {
				http.Error(out, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		w.noteReady()
		if push {
			w.pushes++
			w.pushed("arrives")
		}
		next.ServeHTTP(out, r)
		if tip, err := gittest.Git(w.bare, nil, "rev-parse", "main"); err == nil {
			if _, known := w.readyAt[tip]; !known {
				for name := range maps.Keys(w.ready) {
					w.readyAt[tip] = append(w.readyAt[tip], name)
				}
			}
		}
		if push {
			w.pushed("is done")
		}
	})
}

// pushed tells of a push that has come to a point. The reply to it, and what of
// it is not done yet, is lost where that is wanted.
func (w *world) pushed(moment string) {
	if w.atPush != nil && w.atPush(fmt.Sprintf("push %d %s", w.pushes, moment)) {
		panic(http.ErrAbortHandler)
	}
}

// noteReady looks which revisions of the Service are ready now.
func (w *world) noteReady() {
	live := w.argo.Service(namespace, w.service)
	if live == nil {
		return
	}
	names := []string{live.Status.LatestReadyRevisionName, live.Status.LatestCreatedRevisionName}
	for _, target := range live.Status.Traffic {
		names = append(names, target.RevisionName)
	}
	for _, name := range names {
		if revision := w.argo.Revision(namespace, name); revision != nil && revision.IsReady() {
			w.ready[name] = true
		}
	}
}

// commit adds a commit by somebody else; the caller holds the lock.
func (w *world) commit(message string, files map[string]string) error {
	if err := gittest.Commit(w.bare, "main", message, mapFS(files)); err != nil {
		return err
	}
	tip, err := gittest.Git(w.bare, nil, "rev-parse", "main")
	w.foreign = append(w.foreign, tip)
	return err
}

// poll is how often, by its clock, Argo CD looks for commits by itself. Usually
// it does not in a script's time: real ones take minutes for that, and a run
// must not rest on it.
func (w *world) poll() time.Duration {
	if w.polls {
		return 3 * time.Minute
	}
	return 24 * time.Hour
}

func (w *world) startArgo(url string) error {
	server, err := argotest.Start(argotest.Config{
		// Twenty times as fast as a real cluster: a broken image is given up after a second.
		Token: argoToken, Speed: 20, PullBackOff: 10 * time.Second, ProgressDeadline: 20 * time.Second, Poll: w.poll(),
		Middleware: w.aroundArgo, Denied: w.denied, Overrides: w.overrides,
		Apps: []argotest.App{{
			Name: "the-app", RepoURL: url, GitDir: w.bare, Path: w.path,
			DestinationNamespace: namespace, AutoSync: w.autoSync, SelfHeal: w.autoSync,
		}},
	})
	if err != nil {
		return err
	}
	w.argo = server
	w.stops = append(w.stops, server.Close)
	return nil
}

// aroundArgo is a proxy that wants a login where a script says so.
func (w *world) aroundArgo(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		login := w.login
		w.mu.Unlock()
		if login {
			out.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(out, "<!DOCTYPE html><title>Sign in</title><form action=/login></form>")
			return
		}
		next.ServeHTTP(out, r)
	})
}

func (w *world) hubFault(out http.ResponseWriter, _ *http.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hubDown {
		githubtest.Refuse(out, http.StatusForbidden, "Resource not accessible by integration")
	}
	return w.hubDown
}

// await waits for something of the world with a deadline.
func (w *world) await(most time.Duration, what string, done func() bool) error {
	for end := time.Now().Add(most); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("waited %s for %s", most, what)
		}
	}
	return nil
}

func (w *world) close() {
	for _, p := range w.runs {
		p.kill()
	}
	for i := len(w.stops) - 1; i >= 0; i-- {
		w.stops[i]()
	}
}

// buffer is what a process prints, readable while it runs.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
