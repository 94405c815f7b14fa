package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acme/knative-promote/internal/fake/argotest"
	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/internal/fake/servers"
)

const namespace = "production"

// world is what one script runs against.
type world struct {
	unlike
	dir, bare string
	servers   *servers.Servers
	argo      *argotest.Server
	other     *argotest.Server // of staging; nil: it is in the other one
	hub       *githubtest.Server
	runs      []*process // all that were started, the newest last
	last      *process   // the one that was waited for last
	gates     string     // host:port of the gateServer; empty: there is none

	atWork sync.RWMutex // held by the servers while they answer
	strays strayed      // what they were sent of others' credentials

	mu        sync.Mutex
	seed      string              // the first commit
	foreign   []string            // commits by somebody else
	forced    int                 // pushes of what is not a descendant of what it replaces
	races     int                 // pushes before which somebody else still has to push
	before    map[int]foreign     // commits of somebody else before a push, by its number
	revisions map[string]bool     // all that there have been, and whether they have been ready
	readyAt   map[string][]string // the ones that had been when a commit was pushed
	downAt    map[string][]string // the ones that were gone or not Ready then
	hubDown   bool                // GitHub answers with errors
	vars      []string            // the environment of a step, where no script has it
	pushes    int                 // pushes so far
	landed    int                 // of them those that were done
	written   int                 // times that the comment was written
	asked     map[string]int      // requests of a kind that changed something on the infra repository's forge; nil: not counted
	trouble   *trouble            // what befalls requests to the servers
	atLine    func()              // done at the line that CRASH_AT names, where CRASH_HOW is EVENT
	atPoint   func(string) bool   // told before and after a push or the first comment is done; true: its reply is lost
}

// foreign is a commit that somebody else is to make.
type foreign struct {
	message string
	files   map[string]string
}

func newWorld(env *testscript.Env) (*world, error) {
	s, err := readSetting(env.WorkDir)
	if err != nil {
		return nil, err
	}
	w := &world{unlike: s, dir: env.WorkDir, before: map[int]foreign{}, readyAt: map[string][]string{}, downAt: map[string][]string{}}
	env.Values["world"] = w
	if err := w.begin(env); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// worldOf is a world without a script, which ends with the test.
func worldOf(t *testing.T) *world {
	t.Helper()
	return worldIn(t, t.TempDir())
}

// worldIn is one in a folder, whose folder infra is over the infra repository.
func worldIn(t *testing.T, folder string) *world {
	t.Helper()
	env := &testscript.Env{WorkDir: folder, Values: map[any]any{}}
	w, err := newWorld(env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	w.vars = env.Vars
	return w
}

func (w *world) begin(env *testscript.Env) error {
	w.hub = &githubtest.Server{Repository: "acme/product-import", Token: hubToken, Login: "github-actions[bot]", Fault: w.hubFault}
	w.hub.AddPull(githubtest.Pull{Number: 7, State: "closed", Merge: mergeCommit})
	w.hub.AddPull(githubtest.Pull{Number: 12, State: "open", Fork: true})
	w.hub.AddPull(githubtest.Pull{Number: 13, State: "open"})
	w.hub.Approvals = []githubtest.Approval{{User: "alice", Environment: "production", State: "approved"}, {User: "mallory", Environment: "staging", State: "approved"}}
	w.hub.Infra.Repository, w.hub.Infra.Token = "acme/infra", gitToken
	w.hub.App = &githubtest.App{
		ID: "4711", Repository: "acme/infra", Life: time.Hour, Token: func() string { return gitToken },
	}
	if err := w.startServers(); err != nil {
		return err
	}
	if err := w.startOther(); err != nil {
		return err
	}
	w.environment(env, w.servers.Repository, w.servers.GitHub)
	if !w.autoSync {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), longest)
	defer stop()
	return w.servers.AwaitLive(ctx, w.service)
}

func (w *world) startServers() error {
	content := filepath.Join(w.dir, ".seed")
	for _, from := range []string{infraFolder, filepath.Join(w.dir, "infra")} {
		if err := copyOver(content, from); err != nil {
			return err
		}
	}
	started, err := servers.Start(servers.Config{
		Folder: filepath.Join(w.dir, ".git-server"), Infra: os.DirFS(content), GitToken: gitToken,
		App:    argotest.App{Name: "the-app", Path: w.path, DestinationNamespace: namespace, AutoSync: w.autoSync, SelfHeal: w.autoSync},
		More:   w.more(),
		Argo:   w.argoConfig(),
		GitHub: w.hub,
		Around: w.around,
	})
	if err != nil {
		return err
	}
	w.servers, w.bare, w.argo = started, started.Bare, started.Argo
	w.hub.Infra.Folder = w.bare
	w.hub.Infra.Merging = func(commit string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.noteReady()
		w.arrived(commit)
	}
	if w.onBranch {
		if _, err := gittest.Git(w.bare, nil, "branch", w.stagingBranch(), "main"); err != nil {
			return err
		}
	}
	w.seed, err = gittest.Tip(w.bare, "main")
	return err
}

// infraFolder is the example infra repository.
const infraFolder = root + "/testdata/infra"

// argoConfig is twenty times as fast as a real cluster: a broken image is given
// up after a second.
func (w *world) argoConfig() argotest.Config {
	return argotest.Config{
		Token: argoToken, Speed: 20, PullBackOff: 10 * time.Second, ProgressDeadline: 20 * time.Second, Poll: w.poll(),
		Denied: w.denied, Overrides: w.overrides,
	}
}

// around is a server with what befalls its requests.
func (w *world) around(name string, next http.Handler) http.Handler {
	switch name {
	case "git":
		next = w.answering(w.aroundGit(next))
	case "github":
		next = w.answering(w.aroundHub(next))
	}
	return w.recorded(name, w.disturbed(name, next))
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
		{"INPUT_ARGOCD-CA", string(w.argo.CA())}, {"INPUT_GITHUB-TOKEN", hubToken}, {"INPUT_WAIT-TIMEOUT", "2m"}, {"INPUT_TIMEOUT", "8m"},
		{"APP_KEY", string(githubtest.AppPEM())}, {"INGRESS", w.argo.Ingress()}, {"IMAGE", "ghcr.io/acme/product-import"}, {"SEED", w.seed}, {"OVERLAY", w.path}, {"HUB_TOKEN", hubToken},
		{"BARE", w.bare}, {"GIT_AUTHOR_NAME", "Ada"}, {"GIT_AUTHOR_EMAIL", "ada@example.com"}, {"GIT_COMMITTER_NAME", "Ada"}, {"GIT_COMMITTER_EMAIL", "ada@example.com"},
		{"OWN", w.path + "/knative-promote-" + w.service + ".yaml"},
	} {
		env.Setenv(pair[0], pair[1])
	}
	if w.other == nil {
		return
	}
	for _, pair := range [][2]string{
		{"ARGOCD", w.argo.Addr()}, {"ARGOCD_TOKEN", argoToken}, {"STAGING_ARGOCD", w.other.Addr()}, {"STAGING_TOKEN", otherToken},
		{"INPUT_ARGOCD-CA", string(w.argo.CA()) + string(w.other.CA())},
	} {
		env.Setenv(pair[0], pair[1])
	}
}

// noteReady looks which revisions the Service has had by now.
func (w *world) noteReady() {
	w.revisions = w.argo.WasReady(namespace, w.service)
}

// ready are the revisions that have been.
func (w *world) ready() (names []string) {
	for name, was := range w.revisions {
		if was {
			names = append(names, name)
		}
	}
	return names
}

// down are the revisions that have been there, and are gone or not Ready now.
func (w *world) down() (names []string) {
	for name := range w.revisions {
		if revision := w.argo.Revision(namespace, name); revision == nil || !revision.IsReady() {
			names = append(names, name)
		}
	}
	return names
}

// commit adds a commit by somebody else; the caller holds the lock.
func (w *world) commit(message string, files map[string]string) error {
	w.noteReady() // the commit may replace them
	if err := gittest.Commit(w.bare, "main", message, mapFS(files)); err != nil {
		return err
	}
	tip, err := gittest.Tip(w.bare, "main")
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

func (w *world) hubFault(out http.ResponseWriter, _ *http.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hubDown {
		githubtest.Refuse(out, http.StatusForbidden, "Resource not accessible by integration")
	}
	return w.hubDown
}

// longest is within what everything happens that is to happen, also on a slow
// machine that does much else.
const longest = 9 * time.Minute

// await waits for something of the world.
func (w *world) await(what string, done func() bool) error {
	for end := time.Now().Add(longest); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("waited %s for %s", longest, what)
		}
	}
	return nil
}

func (w *world) close() {
	for _, p := range w.runs {
		p.kill()
	}
	if w.other != nil {
		w.other.Close()
	}
	if w.servers != nil {
		w.servers.Close()
	}
}
