// Package forge runs a real Gitea on the loopback interface, for tests and for
// trying things out: accounts, tokens with scopes, protected branches, pull
// requests and comments, which Git and clients of GitHub's API can talk to.
//
// It needs the program and its folder of templates
// (https://docs.gitea.com/installation/install-from-source), git and bash, and
// runs as any user, root too. Everything that it writes is below one folder.
package forge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Options say what to run and where.
type Options struct {
	Binary string // the program, built with the tags sqlite and sqlite_unlock_notify
	Static string // the folder with Gitea's templates, options and public, as its source has them
	Dir    string // keeps configuration, database and repositories; it is made where it is missing
	Addr   string // host:port to listen on; empty: Start finds a free port of the loopback interface
	URL    string // where others reach it, without a slash at the end; empty: at Addr
}

// A Forge is a Gitea that runs.
type Forge struct {
	URL    string // without a slash at the end
	dir    string
	secret secret
	client *http.Client

	command *exec.Cmd     // nil where somebody else has started it
	ended   chan struct{} // closed when the command has ended
}

// Start prepares the folder and runs Gitea as a child process until Stop is
// called or the context ends. It returns when Gitea is ready.
func Start(ctx context.Context, o Options) (*Forge, error) {
	if o.Addr == "" {
		addr, err := freeAddr()
		if err != nil {
			return nil, err
		}
		o.Addr = addr
	}
	if err := Prepare(ctx, o); err != nil {
		return nil, err
	}
	f, err := Connect(o)
	if err != nil {
		return nil, err
	}
	return f, f.start(ctx, o)
}

// Connect returns a Forge that was prepared with the same options and started
// by somebody else. It does not wait until that is ready.
func Connect(o Options) (*Forge, error) {
	s, err := readSecret(o.Dir)
	if err != nil {
		return nil, err
	}
	return &Forge{URL: cmp.Or(o.URL, "http://"+o.Addr), dir: o.Dir, secret: s, client: &http.Client{Timeout: time.Minute}}, nil
}

func (f *Forge) start(ctx context.Context, o Options) error {
	log, err := os.Create(f.log())
	if err != nil {
		return fmt.Errorf("starting Gitea: %w", err)
	}
	defer log.Close()
	argv, env := o.Command()
	f.command = exec.CommandContext(ctx, argv[0], argv[1:]...)
	f.command.Env = append(os.Environ(), env...)
	f.command.Stdout, f.command.Stderr = log, log
	f.command.Cancel = func() error { return f.command.Process.Signal(syscall.SIGTERM) }
	f.command.WaitDelay = stopTime
	if err := f.command.Start(); err != nil {
		return fmt.Errorf("starting Gitea: %w", err)
	}
	f.ended = make(chan struct{})
	go func() {
		defer close(f.ended)
		_ = f.command.Wait() // Ready and Stop say what is wrong
	}()
	if err := f.Ready(ctx); err != nil {
		f.Stop()
		return err
	}
	return nil
}

const (
	startTime = time.Minute
	stopTime  = 10 * time.Second
)

// Ready returns when Gitea answers, or why it does not.
func (f *Forge) Ready(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, startTime)
	defer stop()
	for {
		err := f.Healthy(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-f.ended: // never, where it is not our child
			return fmt.Errorf("starting Gitea: it has ended: %s", f.lastLines())
		case <-ctx.Done():
			return fmt.Errorf("waiting for Gitea, see %s: %w", f.log(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Healthy asks Gitea once whether it is ready.
func (f *Forge) Healthy(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL+"/api/healthz", nil)
	if err != nil {
		return err
	}
	response, err := f.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New("its health is " + response.Status)
	}
	return nil
}

// Stop ends Gitea and waits until it has ended. The folder stays, so that
// Start continues with it, at the same address where that is in the options.
func (f *Forge) Stop() {
	if f.command == nil {
		return
	}
	_ = f.command.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-f.ended:
	case <-time.After(stopTime):
		_ = f.command.Process.Kill()
		<-f.ended
	}
}

func (f *Forge) log() string { return filepath.Join(f.dir, "gitea.log") }

// lastLines is the end of the log.
func (f *Forge) lastLines() string {
	text, err := os.ReadFile(f.log())
	if err != nil {
		return err.Error()
	}
	text = bytes.TrimSpace(text)
	return cmp.Or(string(text[max(0, len(text)-2000):]), "it printed nothing")
}

func freeAddr() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
