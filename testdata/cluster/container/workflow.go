package container

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Workflow is one event in a repository and the workflow that it starts.
type Workflow struct {
	Text       string            // of the workflow's file
	Event      string            // such as push
	Payload    map[string]any    // of the event
	Repository string            // owner/name
	Checkout   string            // folder that actions/checkout gives
	Server     string            // address of GitHub
	Token      string            // github.token
	Secrets    map[string]string // beside that
	Variables  map[string]string
	Inputs     map[string]string // of workflow_dispatch
	Variable   map[string]string // of the environment of each step
	Actions    map[string]string // folders of actions, by owner/name
}

// actModule is where act's version is pinned.
const actModule = "testdata/cluster/modules/act-v0.2.89"

func (e *Engine) buildAct(ctx context.Context) error {
	e.act = e.file("act")
	build := exec.CommandContext(ctx, "go", "build", "-o", e.act, "github.com/nektos/act")
	build.Dir, build.Env = filepath.Join(e.root, actModule), append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building act: %w\n%s", err, out)
	}
	return nil
}

// Run runs a workflow to its end. That the workflow fails is no error.
func (e *Engine) Run(ctx context.Context, w Workflow) (Journal, error) {
	dir, err := os.MkdirTemp(e.dir, "workflow")
	if err != nil {
		return nil, err
	}
	args, err := e.arguments(w, dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, e.act, args...)
	cmd.Dir = w.Checkout
	cmd.Env = []string{"DOCKER_HOST=" + e.socket(), "HOME=" + dir, "XDG_CACHE_HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err = cmd.Run()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		return nil, fmt.Errorf("running act: %w", err)
	}
	journal, err := readJournal(&out)
	if err == nil && len(journal.Jobs()) == 0 {
		err = fmt.Errorf("act has run no job:\n%s%s", log.String(), journal.Text())
	}
	return journal, err
}

// arguments are those of act. Jobs run on this machine itself, and the action's
// container sees its network, where everything listens on loopback. Of the
// options of the container, act needs the folder in which it keeps the files
// that a step writes its outputs to.
//
// act hides secrets in its log like GitHub. That is switched off, so that what
// the action leaves to it can be seen.
func (e *Engine) arguments(w Workflow, dir string) ([]string, error) {
	file, event := filepath.Join(dir, "workflow.yml"), filepath.Join(dir, "event.json")
	payload, err := json.Marshal(w.Payload)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.WriteFile(file, []byte(w.Text), 0o644), os.WriteFile(event, payload, 0o644)); err != nil {
		return nil, err
	}
	cache := filepath.Join(dir, "act")
	args := []string{w.Event, "--json", "--insecure-secrets", "--rm", "--pull=false", "--no-cache-server",
		"--workflows", file, "--eventpath", event, "--directory", w.Checkout,
		"--platform", "ubuntu-latest=-self-hosted", "--container-daemon-socket", "-",
		"--container-options", "--network host -v " + cache + ":" + cache,
		"--actor", "octocat", "--secret", "GITHUB_TOKEN=" + w.Token,
		"--env", "GITHUB_REPOSITORY=" + w.Repository, "--env", "GITHUB_RUN_ID=1001",
		"--env", "GITHUB_SERVER_URL=" + w.Server, "--env", "GITHUB_API_URL=" + w.Server + "/api/v3",
	}
	args = append(args, pairs("--secret", w.Secrets)...)
	args = append(args, pairs("--var", w.Variables)...)
	args = append(args, pairs("--env", w.Variable)...)
	args = append(args, pairs("--input", w.Inputs)...)
	return append(args, pairs("--local-repository", used(w))...), nil
}

// pairs gives an option with NAME=VALUE for each value.
func pairs(option string, values map[string]string) []string {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		args = append(args, option, name+"="+values[name])
	}
	return args
}

// used are the folders of the workflow's actions as act wants them, by
// owner/name@ref.
func used(w Workflow) map[string]string {
	folders := map[string]string{}
	for _, match := range regexp.MustCompile(`uses: ([^@\s]+)@(\S+)`).FindAllStringSubmatch(w.Text, -1) {
		if folder, found := w.Actions[match[1]]; found {
			folders[match[1]+"@"+match[2]] = folder
		}
	}
	return folders
}

// StandIns are the folders of the actions that need more than this machine,
// each with one that does as little as a workflow notices.
func (e *Engine) StandIns() map[string]string {
	actions := map[string]string{}
	for _, name := range []string{"docker/login-action", "docker/build-push-action"} {
		actions[name] = filepath.Join(e.root, "testdata/cluster/container/actions", name[strings.Index(name, "/")+1:])
	}
	return actions
}
