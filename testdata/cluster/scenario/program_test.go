//go:build cluster

package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/acme/knative-promote/internal/fake/consoletest"
	"github.com/acme/knative-promote/testdata/cluster/container"
)

// A run is the program at work, or what it has left.
type run struct {
	s       *site
	cmd     *exec.Cmd
	log     *container.Transcript
	outputs string // file
	done    chan struct{}
	Code    int // exit code, after wait
}

// inputs are the inputs of a promotion of the site, which a scenario adds to:
// NAME=VALUE with the input's name, or a whole variable in capitals.
func (s *site) inputs(more ...string) []string {
	folder := s.TempDir()
	app := s.App.GetName()
	if s.App.GetNamespace() != "argocd" {
		app = s.App.GetNamespace() + "/" + app
	}
	ca, err := os.ReadFile(world.CA())
	s.must(err)
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "GITHUB_OUTPUT=" + filepath.Join(folder, "output"),
		"ARGOCD_SERVER=" + world.ArgoCDServer(), "ARGOCD_AUTH_TOKEN=" + world.Tokens["ci"],
	}
	all := append([]string{
		"service=" + s.Service, "repository=" + s.URL, "path=" + s.Overlay, "token=" + gitPassword, "application=" + app,
		"argocd-ca=" + string(ca), "probe=/healthz", "probe-connect=" + world.Ingress(),
		"steps=10,50,100", "wait-timeout=3m", "timeout=15m",
	}, more...)
	for _, input := range all {
		name, value, _ := strings.Cut(input, "=")
		if name != strings.ToUpper(name) {
			name = "INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		}
		env = append(env, name+"="+value) // of two of one name the last counts
	}
	return env
}

// begin starts the program. It is killed when the scenario ends.
func (s *site) begin(command string, inputs ...string) *run {
	s.Helper()
	r := &run{s: s, log: &container.Transcript{}, done: make(chan struct{})}
	r.cmd = exec.CommandContext(context.WithoutCancel(s.Context()), program, command)
	r.cmd.Env = s.inputs(inputs...)
	for _, variable := range r.cmd.Env {
		if file, ok := strings.CutPrefix(variable, "GITHUB_OUTPUT="); ok {
			r.outputs = file
			s.must(os.WriteFile(file, nil, 0o644))
		}
	}
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	s.must(r.cmd.Start())
	go func() {
		r.cmd.Wait()
		close(r.done)
	}()
	s.Cleanup(func() {
		r.cmd.Process.Kill()
		<-r.done
		if s.Failed() {
			s.Logf("%s printed:\n%s", command, r.log)
		}
	})
	return r
}

// wait waits for the program's end.
func (r *run) wait() *run {
	<-r.done
	r.Code = r.cmd.ProcessState.ExitCode()
	return r
}

// ended tells whether the program has ended by itself.
func (r *run) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// signal sends the program a signal.
func (r *run) signal(sig syscall.Signal) {
	r.s.Helper()
	if err := r.cmd.Process.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		r.s.must(err)
	}
}

// promote runs a promotion of an image's tag to its end.
func (s *site) promote(tag string, inputs ...string) *run {
	s.Helper()
	return s.begin("promote", append(slices.Clone(inputs), "image="+s.Image+":"+tag)...).wait()
}

// exits fails the scenario unless the program ended with this code.
func (r *run) exits(code int) *run {
	r.s.Helper()
	if r.Code != code {
		r.s.Fatalf("exit code %d, want %d", r.Code, code)
	}
	return r
}

// says fails the scenario unless the program printed each text.
func (r *run) says(texts ...string) *run {
	r.s.Helper()
	for _, text := range texts {
		if !strings.Contains(r.log.String(), text) {
			r.s.Fatalf("the program did not print %q", text)
		}
	}
	return r
}

// until waits until the program has printed the text.
func (r *run) until(text string) {
	r.s.Helper()
	r.s.eventually(fmt.Sprintf("the program prints %q", text), func() bool { return strings.Contains(r.log.String(), text) })
}

// output is one of the action's outputs.
func (r *run) output(name string) string {
	r.s.Helper()
	content, err := os.ReadFile(r.outputs)
	r.s.must(err)
	outputs, err := consoletest.Values(string(content))
	r.s.must(err)
	if value, ok := outputs[name]; ok {
		return value
	}
	r.s.Fatalf("no output %s in:\n%s", name, content)
	return ""
}

// person does something again and again, beside the scenario, until the returned
// function is called.
func (s *site) person(does func() error) (stop func()) {
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			if err := does(); err != nil {
				s.Errorf("a person: %v", err)
			}
			select {
			case <-ended:
				return
			case <-time.After(500 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(ended)
		<-gone
	}
}

// eventually waits, for three minutes at most, until something is so.
func (s *site) eventually(what string, so func() bool) {
	s.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if so() {
			return
		}
	}
	s.Fatalf("waited in vain until %s", what)
}
