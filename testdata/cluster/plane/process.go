package plane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Part is one process of the control plane.
type Part struct {
	Name string
	Argv []string
	Env  []string // beside the environment of who started it
	PID  int
}

// runtimeEnv has all parts collect their garbage less often: a tenth of what a
// busy control plane computes, for some memory.
var runtimeEnv = []string{"GOGC=300", "GOMEMLIMIT=2GiB"}

// start runs the part detached, so that it outlives this process. What it
// prints goes to log/NAME.log.
func (part *Part) start(dir string) error {
	log, err := os.OpenFile(filepath.Join(dir, "log", part.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(part.Argv[0], part.Argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = slices.Concat(os.Environ(), runtimeEnv, part.Env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", part.Name, err)
	}
	part.PID = cmd.Process.Pid
	go cmd.Wait() // so that it is no zombie while this process lives
	return nil
}

// stop ends the part's process and returns when it has ended.
func (part *Part) stop(dir string) {
	if !part.Running() {
		return
	}
	syscall.Kill(part.PID, syscall.SIGTERM)
	for range 50 {
		if !part.Running() {
			part.PID = 0
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	syscall.Kill(-part.PID, syscall.SIGKILL)
	part.PID = 0
}

// Running tells whether the part's own process is there: a process ID may have
// gone to somebody else since, so the program is compared too.
func (part *Part) Running() bool {
	if part.PID == 0 || syscall.Kill(part.PID, 0) != nil {
		return false
	}
	line, err := os.ReadFile("/proc/" + strconv.Itoa(part.PID) + "/cmdline")
	if errors.Is(err, os.ErrNotExist) {
		_, err := os.Stat("/proc/self")
		return err != nil // without /proc there is nothing to compare
	}
	return err == nil && strings.HasPrefix(string(line), part.Argv[0]+"\x00")
}

// Stop ends one part, such as argocd-server, and waits until it has ended.
func (p *Plane) Stop(name string) error {
	part, err := p.part(name)
	if err != nil {
		return err
	}
	part.stop(p.Dir)
	return p.save()
}

// Start starts a part that Stop has ended, where it was. It does not wait
// until the part is ready.
func (p *Plane) Start(name string) error {
	part, err := p.part(name)
	if err != nil {
		return err
	}
	if err := part.start(p.Dir); err != nil {
		return err
	}
	return p.save()
}

func (p *Plane) part(name string) (*Part, error) {
	var names []string
	for i := range p.Parts {
		if p.Parts[i].Name == name {
			return &p.Parts[i], nil
		}
		names = append(names, p.Parts[i].Name)
	}
	return nil, fmt.Errorf("part %q: expected one of %s", name, strings.Join(names, ", "))
}

// run adds a part and starts it.
func (p *Plane) run(name string, env []string, argv ...string) error {
	part := Part{Name: name, Argv: argv, Env: env}
	if err := part.start(p.Dir); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Parts = append(p.Parts, part)
	return nil
}

// until calls ready until it succeeds, for a minute at most. The part's log
// tells why it did not.
func (p *Plane) until(ctx context.Context, name string, ready func(context.Context) error) error {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s, see %s: %w", name, p.File("log", name+".log"), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// freePorts finds a free port for every name. All are held until the last one
// is found, so that they differ.
func freePorts(names []string) (map[string]int, error) {
	ports := map[string]int{}
	for _, name := range names {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		defer listener.Close()
		ports[name] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
