package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/internal/fake/consoletest"
	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/promote/pipeline"
)

// process is one run of the program: in the test's process, or, where it is
// killed, signalled or measured, in one of its own.
type process struct {
	command  *exec.Cmd // nil: it is in the test's process
	out, err buffer
	output   string // the file of the step's outputs
	summary  string // the file of its summary
	done     chan struct{}
	code     int                  // of one in the test's process that has ended
	stop     context.CancelFunc   // cancels one in the test's process
	outputs  []consoletest.Output // once somebody has waited for it
}

// process is one of a command, with files for its outputs and its summary.
func (w *world) process(command *exec.Cmd) *process {
	number := len(w.runs)
	return &process{
		command: command,
		output:  filepath.Join(w.dir, fmt.Sprintf(".output-%d", number)),
		summary: filepath.Join(w.dir, fmt.Sprintf("summary-%d.md", number)),
		done:    make(chan struct{}),
	}
}

// files are the environment that names them.
func (p *process) files() []string {
	return []string{"GITHUB_OUTPUT=" + p.output, "GITHUB_STEP_SUMMARY=" + p.summary}
}

// home is the environment of a process that runs in the world's folder.
func (w *world) home() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir} }

// begun is the program at work in the world's folder. GATES in its arguments is
// where the gateServer is, and $APP_KEY in its environment the GitHub App's key,
// which takes a while to make: each process would when it starts.
func (w *world) begun(t testing.TB, env, args []string) *process {
	t.Helper()
	args = slices.Clone(args)
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "GATES", w.gates)
	}
	env = slices.Concat(w.vars, env)
	for i, v := range env {
		if strings.HasSuffix(v, "=$APP_KEY") {
			env[i] = strings.Replace(v, "$APP_KEY", string(githubtest.AppPEM()), 1)
		}
	}
	if !needsProcess(env) {
		return w.runWithin(w.dir, env, args)
	}
	p := w.process(exec.Command("knative-promote-crashing", args...))
	p.command.Dir, p.command.Env = w.dir, slices.Concat(env, p.files(), w.home())
	if err := w.start(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// needsProcess tells whether a run with this environment is killed or stopped, or
// asks the kernel about itself.
func needsProcess(env []string) bool {
	return slices.ContainsFunc(env, func(v string) bool {
		return v == "CRASH_HOW=KILL" || v == "CRASH_HOW=STOP" || strings.HasPrefix(v, "STATUS_FILE=")
	})
}

// startProcess starts the program as a script asks for it.
func (w *world) startProcess(ts *testscript.TestScript, args []string) *process {
	program := "knative-promote"
	if ts.Getenv("CRASH_AT") != "" {
		program = "knative-promote-crashing"
	}
	path := filepath.SplitList(ts.Getenv("PATH"))
	p := w.process(exec.Command(filepath.Join(path[0], program), args...))
	p.command.Dir = ts.MkAbs(".")
	p.command.Env = append(environmentOf(ts), p.files()...)
	ts.Check(w.start(p))
	return p
}

// start starts a process, which ends with the world at the latest.
func (w *world) start(p *process) error {
	p.command.Stdout, p.command.Stderr = &p.out, &p.err
	if err := p.command.Start(); err != nil {
		return err
	}
	w.note(p)
	go func() {
		defer close(p.done)
		_ = p.command.Wait() // its state says how it ended
	}()
	return nil
}

// runWithin runs the program in the test's process. What it has of a process of
// its own is the folder in which it is.
func (w *world) runWithin(folder string, env, args []string) *process {
	p := w.process(nil)
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	getenv := consoletest.Environment(slices.Concat([]string{"GITHUB_WORKSPACE=" + folder}, env, p.files())...)
	stdout := &tripwire{at: getenv("CRASH_AT"), how: getenv("CRASH_HOW"), out: &p.out, interrupt: cancel}
	if stdout.how == "EVENT" {
		stdout.interrupt = w.event
	}
	w.note(p)
	go func() {
		defer close(p.done)
		defer cancel()
		p.code = run(ctx, args, getenv, stdout, &p.err)
	}()
	return p
}

// event is what is to happen at a line of a program.
func (w *world) event() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.atLine()
}

// note makes a process the newest.
func (w *world) note(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, p)
}

// endsInTime waits for the process's end, and kills it when it does not come.
func (p *process) endsInTime() bool {
	select {
	case <-p.done:
		return true
	case <-time.After(longest):
		p.kill()
		return false
	}
}

// exit is the exit code of a process that has ended, or the name of the signal
// that ended it.
func (p *process) exit() string {
	if p.command == nil {
		return strconv.Itoa(p.code)
	}
	state := p.command.ProcessState.Sys().(syscall.WaitStatus)
	if state.Signaled() {
		return state.Signal().String()
	}
	return strconv.Itoa(state.ExitStatus())
}

// interrupt ends a process as the runner does first.
func (p *process) interrupt() {
	if p.command == nil {
		p.stop()
		return
	}
	_ = p.command.Process.Signal(syscall.SIGINT) // it may have ended
}

// kill ends a process for good. One in the test's process is only cancelled.
func (p *process) kill() {
	if p.command == nil {
		p.stop()
	} else {
		_ = p.command.Process.Kill() // it may have ended
	}
	<-p.done
}

// environmentOf is what of a script's environment the program can see.
func environmentOf(ts *testscript.TestScript) []string {
	names := []string{
		"PATH", "HOME", "TMPDIR", "GORACE", "GOCOVERDIR", "GITHUB_ACTIONS", "GITHUB_ACTOR", "GITHUB_TRIGGERING_ACTOR", "GITHUB_REPOSITORY", "GITHUB_SERVER_URL",
		"GITHUB_API_URL", "CI_MERGE_REQUEST_PROJECT_ID", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_SHA", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_WORKSPACE", "RUNNER_DEBUG",
		"CI_PIPELINE_URL", "GITLAB_USER_LOGIN", "CRASH_AT", "CRASH_HOW",
	}
	for _, in := range inputs.All() {
		names = append(names, in.EnvNames()...)
	}
	for _, environment := range []string{"staging", "production"} {
		names = append(names, pipeline.TokenVariable(environment))
	}
	var env []string
	for _, name := range names {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
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
