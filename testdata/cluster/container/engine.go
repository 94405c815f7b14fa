// Package container builds the action's image from the project's Dockerfile
// and runs it as GitHub does: in workflows, by act, and with the signals that
// the runner sends when somebody cancels a run.
//
// It needs podman, buildah and a container runtime, see [Packages], but neither
// root nor a registry: the image that the Dockerfile begins with is made of
// this machine's own Go and shell.
package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Packages is the command that installs what the package needs, on Debian and
// Ubuntu.
const Packages = "apt-get install --yes podman buildah runc uidmap git ca-certificates"

// An Engine is a podman with images, containers and a Docker socket of its
// own, so that it neither sees nor disturbs what else runs on the machine.
type Engine struct {
	root    string // the project's folder
	dir     string
	act     string // the built program
	service *exec.Cmd
	relay   *http.Server
	ended   chan struct{} // closed when service has ended
	log     bytes.Buffer  // of service, to be read after its end
}

// Start starts an engine for the project in the folder root.
func Start(ctx context.Context, root string) (*Engine, error) {
	if err := installed(); err != nil {
		return nil, err
	}
	// Paths of sockets must be short, so it is not below a test's folder.
	dir, err := os.MkdirTemp("", "container")
	if err != nil {
		return nil, err
	}
	e := &Engine{root: root, dir: dir, ended: make(chan struct{})}
	for _, begin := range []func() error{
		e.configure,
		func() error { return e.buildAct(ctx) },
		func() error { return e.serve(ctx) },
		func() error { return e.makeBase(ctx) },
	} {
		if err := begin(); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

// installed tells what is missing, all of it at once.
func installed() error {
	var missing []string
	for _, name := range []string{"podman", "buildah", "git"} {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	if runtimeName() == "" {
		missing = append(missing, "runc or crun")
	}
	if _, err := os.Stat(certificates); err != nil {
		missing = append(missing, certificates)
	}
	if len(missing) > 0 {
		return fmt.Errorf("running the action's image: %s not found; install with: %s", strings.Join(missing, ", "), Packages)
	}
	return nil
}

// runtimeName is the OCI runtime to use. crun fails where the capability
// CAP_SYS_RESOURCE is missing, so runc comes first.
func runtimeName() string {
	for _, name := range []string{"runc", "crun"} {
		for _, folder := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/bin") {
			if info, err := os.Stat(filepath.Join(folder, name)); err == nil && info.Mode()&0o111 != 0 {
				return name
			}
		}
	}
	return ""
}

// configure writes the files that keep the engine to its own folder. The
// limits are low because raising them needs CAP_SYS_RESOURCE.
func (e *Engine) configure() error {
	if err := os.Mkdir(e.file("xdg"), 0o700); err != nil {
		return err
	}
	for name, content := range map[string]string{
		"containers.conf": "[containers]\ndefault_ulimits = [\"nofile=10000:10000\", \"nproc=10000:10000\"]\n" +
			"[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\nruntime = \"" + runtimeName() + "\"\n",
		"storage.conf": fmt.Sprintf("[storage]\ndriver = \"overlay\"\ngraphroot = %q\nrunroot = %q\n", e.file("images"), e.file("run")),
	} {
		if err := os.WriteFile(e.file(name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) file(elem ...string) string {
	return filepath.Join(append([]string{e.dir}, elem...)...)
}

func (e *Engine) socket() string { return "unix://" + e.file("docker.sock") }

// environment is what podman and buildah are started with. Without root they
// need a folder that a user has who is logged in.
func (e *Engine) environment() []string {
	return append(os.Environ(), "XDG_RUNTIME_DIR="+e.file("xdg"),
		"CONTAINERS_CONF="+e.file("containers.conf"), "CONTAINERS_STORAGE_CONF="+e.file("storage.conf"))
}

// command runs a program of the engine to its end and returns what it prints.
func (e *Engine) command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = e.environment()
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, args[0], err, out, log.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// serve starts what act takes for Docker.
func (e *Engine) serve(ctx context.Context) error {
	if err := e.servePodman(ctx); err != nil {
		return err
	}
	listener, err := net.Listen("unix", e.file("docker.sock"))
	if err != nil {
		return fmt.Errorf("listening for act: %w", err)
	}
	e.relay = &http.Server{Handler: newRelay(e.file("podman.sock")), ReadHeaderTimeout: time.Minute}
	go e.relay.Serve(listener)
	return nil
}

// servePodman starts podman's API. It ends by itself half an hour after a test
// that could not end it. Without root it is several processes, so it has a
// group.
func (e *Engine) servePodman(ctx context.Context) error {
	e.service = exec.Command("podman", "system", "service", "--time=1800", "unix://"+e.file("podman.sock"))
	e.service.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	e.service.Env, e.service.Stdout, e.service.Stderr = e.environment(), &e.log, &e.log
	if err := e.service.Start(); err != nil {
		return fmt.Errorf("starting podman: %w", err)
	}
	go func() {
		_ = e.service.Wait() // a service that is told to end, ends with an error
		close(e.ended)
	}()
	for {
		connection, err := net.Dial("unix", e.file("podman.sock"))
		if err == nil {
			return connection.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for podman: %w", ctx.Err())
		case <-e.ended:
			return fmt.Errorf("starting podman: it has ended: %s", e.log.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Close ends the engine and removes its containers and images.
func (e *Engine) Close() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if e.relay != nil {
		_ = e.relay.Close()
	}
	if e.service != nil && e.service.Process != nil {
		_, _ = e.command(ctx, "podman", "rm", "--all", "--force", "--time=0")
		_ = syscall.Kill(-e.service.Process.Pid, syscall.SIGTERM)
		<-e.ended
	}
	if os.Geteuid() != 0 {
		// Files in images belong to other users then, and a process of podman's
		// stays to hold on to these users.
		_, _ = e.command(ctx, "podman", "unshare", "rm", "-rf", e.file("images"))
		_, _ = e.command(ctx, "podman", "system", "migrate")
	}
	return os.RemoveAll(e.dir)
}

// Podman runs podman and returns what it prints.
func (e *Engine) Podman(ctx context.Context, args ...string) (string, error) {
	return e.command(ctx, "podman", args...)
}
