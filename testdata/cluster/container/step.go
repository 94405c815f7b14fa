package container

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/acme/knative-promote/internal/fake/consoletest"
)

// runnerID is the user that GitHub's hosted runners run as, and that the
// folders which a step gets belong to.
const runnerID = 1001

// A Step is a container that was started as GitHub's runner starts the one of
// an action, see
// https://github.com/actions/runner/blob/main/src/Runner.Worker/Handlers/ContainerActionHandler.cs
type Step struct {
	dir   string // what the runner shares with the container
	cmd   *exec.Cmd
	log   Transcript
	ended chan struct{}
}

// shared are the folders that the runner shares with the container, each below
// /github.
var shared = []string{"home", "workflow", "file_commands", "workspace"}

// The files below /github through which the runner and a step talk.
const (
	eventFile   = "workflow/event.json"
	outputFile  = "file_commands/set_output_1"
	summaryFile = "file_commands/step_summary_1"
)

// Begin starts a step of an event with more variables, such as its inputs.
func (e *Engine) Begin(image Image, event map[string]any, variables map[string]string) (*Step, error) {
	s := &Step{ended: make(chan struct{})}
	var err error
	if s.dir, err = os.MkdirTemp(e.dir, "step"); err != nil {
		return nil, err
	}
	if err := s.lay(event); err != nil {
		return nil, err
	}
	args := append([]string{"run", "--name", filepath.Base(s.dir), "--workdir", "/github/workspace", "--rm", "--network", "host"}, strict()...)
	env := e.environment()
	for name, value := range s.variables(variables) {
		args, env = append(args, "-e", name), append(env, name+"="+value)
	}
	for _, folder := range shared {
		args = append(args, "-v", filepath.Join(s.dir, folder)+":/github/"+folder)
	}
	s.cmd = exec.Command("podman", append(args, image.Ref())...)
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = env, &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting podman: %w", err)
	}
	go func() {
		_ = s.cmd.Wait() // the exit code says it
		close(s.ended)
	}()
	return s, nil
}

// strict gives the action less than the runner does: no file but those of the
// shared folders, and 256 MiB. Without root, not all cgroups can limit memory.
func strict() []string {
	options := []string{"--read-only", "--read-only-tmpfs=false"}
	if os.Geteuid() == 0 {
		options = append(options, "--memory=256m", "--memory-swap=256m")
	}
	return options
}

// lay lays the shared folders out, as the runner's user.
func (s *Step) lay(event map[string]any) error {
	content, err := json.Marshal(event)
	if err != nil {
		return err
	}
	for _, folder := range shared {
		if err := os.Mkdir(filepath.Join(s.dir, folder), 0o755); err != nil {
			return err
		}
	}
	for name, text := range map[string][]byte{eventFile: content, outputFile: nil, summaryFile: nil} {
		if err := os.WriteFile(filepath.Join(s.dir, name), text, 0o644); err != nil {
			return err
		}
	}
	if os.Geteuid() != 0 {
		return nil // then it is us who are the runner
	}
	return filepath.WalkDir(s.dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, runnerID, runnerID))
	})
}

// variables are what the runner gives to every action, and more. HOME is
// missing: podman itself would take it.
func (s *Step) variables(more map[string]string) map[string]string {
	all := map[string]string{
		"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_ACTOR": "octocat", "GITHUB_RUN_ID": "1001",
		"GITHUB_WORKSPACE": "/github/workspace", "GITHUB_EVENT_PATH": "/github/" + eventFile,
		"GITHUB_OUTPUT": "/github/" + outputFile, "GITHUB_STEP_SUMMARY": "/github/" + summaryFile,
	}
	for name, value := range more {
		all[name] = value
	}
	return all
}

// Log is what the step has printed so far.
func (s *Step) Log() string { return s.log.String() }

// Wait waits for the step's end and returns its exit code.
func (s *Step) Wait() int {
	<-s.ended
	return s.cmd.ProcessState.ExitCode()
}

// Cancel does what the runner does when somebody cancels the run, and returns
// how long the step needed to end: SIGINT, SIGTERM after 7.5 seconds, and
// SIGKILL 2.5 seconds later, which is an error here. See
// https://github.com/actions/runner/blob/main/src/Runner.Sdk/ProcessInvoker.cs
func (s *Step) Cancel() (time.Duration, error) {
	began := time.Now()
	for _, say := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, 7500 * time.Millisecond}, {syscall.SIGTERM, 2500 * time.Millisecond}} {
		if err := s.cmd.Process.Signal(say.signal); err != nil {
			return 0, fmt.Errorf("cancelling the step: %w", err)
		}
		select {
		case <-s.ended:
			return time.Since(began), nil
		case <-time.After(say.wait):
		}
	}
	return time.Since(began), errors.Join(errors.New("the step went on until it was killed"), s.cmd.Process.Kill())
}

// Summary is the job summary that the step wrote.
func (s *Step) Summary() (string, error) { return s.read(summaryFile) }

func (s *Step) read(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	return string(text), err
}

// Outputs are the step's outputs.
func (s *Step) Outputs() (map[string]string, error) {
	text, err := s.read(outputFile)
	if err != nil {
		return nil, err
	}
	return consoletest.Values(text)
}

// Left are the files in the shared folders, and foreign those of them that do
// not belong to the runner's user, who could not delete them.
func (s *Step) Left() (all, foreign []string, err error) {
	owner, err := os.Stat(s.dir)
	if err != nil {
		return nil, nil, err
	}
	err = filepath.WalkDir(s.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == s.dir {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, s.dir+"/")
		all = append(all, name)
		if info.Sys().(*syscall.Stat_t).Uid != owner.Sys().(*syscall.Stat_t).Uid {
			foreign = append(foreign, name)
		}
		return nil
	})
	return all, foreign, err
}
