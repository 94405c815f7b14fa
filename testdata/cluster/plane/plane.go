// Package plane runs a whole control plane on the loopback interface, for
// tests and for trying things out: etcd, the Kubernetes API server and the
// controllers that Knative needs, Knative Serving, Argo CD, a Git server, and a
// forge where wanted. All of it is built from Go modules and runs as ordinary
// processes, without a container engine and without root.
//
// What a cluster has below Knative Serving's controllers, which are kubelet,
// ingress and admission webhooks, is stood in for by the module cluster/below.
//
// Every port is chosen freely, so that several control planes run side by side.
package plane

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Versions are the versions of what runs. An empty one is the default.
type Versions struct {
	ArgoCD  string // such as 2.14.21
	Knative string // such as 0.42.2
}

// Options say what to run. The zero value is a control plane named "default"
// with the default versions, without a forge and without a Prometheus.
type Options struct {
	Name     string // several may run, each under its own name
	Home     string // folder of programs and runs; empty: below the user's cache folder
	Versions Versions
	Forge    bool      // run Gitea too
	Progress io.Writer // told what is being built and started; nil: nobody

	Prometheus bool // run a Prometheus too, which scrapes the data path
}

// A Plane is a running control plane.
type Plane struct {
	Name     string
	Dir      string // kubeconfig, env, log/, git/ and all state
	Versions Versions
	Ports    map[string]int    // by what listens there
	Tokens   map[string]string // Argo CD tokens by account: admin, ci, reader
	Parts    []Part            // in the order in which they were started

	mu sync.Mutex // of Parts, while several are started at once
}

const stateFile = "plane.json"

// Up builds what is not built yet, starts everything and returns when it is
// ready to be used. A control plane of the same name is ended first.
func Up(ctx context.Context, o Options) (*Plane, error) {
	started := time.Now()
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	programs, err := Build(ctx, o)
	if err != nil {
		return nil, err
	}
	if old, err := Open(o); err == nil {
		old.Down()
	}
	p, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := p.start(ctx, o, programs); err != nil {
		p.Down()
		return nil, err
	}
	o.say("up in %.0f s", time.Since(started).Seconds())
	return p, p.save()
}

// Open finds a control plane that is up. It is fs.ErrNotExist when there is none.
func Open(o Options) (*Plane, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(o.dir(), stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no control plane named %q is up: %w", o.Name, err)
	}
	if err != nil {
		return nil, err
	}
	p := &Plane{}
	if err := json.Unmarshal(content, p); err != nil {
		return nil, fmt.Errorf("reading %s: %w", stateFile, err)
	}
	return p, nil
}

// Down ends every process. The folder with the logs stays until the next Up.
func (p *Plane) Down() {
	for i := len(p.Parts) - 1; i >= 0; i-- {
		p.Parts[i].stop(p.Dir)
	}
	os.Remove(filepath.Join(p.Dir, stateFile))
}

func (o Options) complete() (Options, error) {
	o.Name = cmp.Or(o.Name, "default")
	o.Versions.ArgoCD = cmp.Or(o.Versions.ArgoCD, DefaultVersions.ArgoCD)
	o.Versions.Knative = cmp.Or(o.Versions.Knative, DefaultVersions.Knative)
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if o.Home == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return o, fmt.Errorf("looking for a folder to keep programs in: %w", err)
		}
		o.Home = filepath.Join(cache, "knative-promote", "cluster")
	}
	return o, nil
}

func (o Options) dir() string { return filepath.Join(o.Home, "run", o.Name) }

func (o Options) say(format string, args ...any) { fmt.Fprintf(o.Progress, format+"\n", args...) }

// prepare makes the empty folder of a control plane and chooses its ports.
func prepare(o Options) (*Plane, error) {
	p := &Plane{Name: o.Name, Dir: o.dir(), Versions: o.Versions, Tokens: map[string]string{}}
	if err := os.RemoveAll(p.Dir); err != nil {
		return nil, err
	}
	for _, folder := range []string{"log", "git", "certs", "argocd/tls", "argocd/ssh", "argocd/gpg/source", "argocd/plugins", "argocd/tmp", "argocd/bin"} {
		if err := os.MkdirAll(filepath.Join(p.Dir, folder), 0o755); err != nil {
			return nil, err
		}
	}
	// gpg wants its folder to be nobody else's.
	if err := os.MkdirAll(filepath.Join(p.Dir, "argocd/gpg/keys"), 0o700); err != nil {
		return nil, err
	}
	var err error
	p.Ports, err = freePorts(portNames)
	return p, err
}

func (p *Plane) save() error {
	content, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.Dir, stateFile), content, 0o600)
}

// Address is the host and port of what listens under this name.
func (p *Plane) Address(name string) string { return fmt.Sprintf("127.0.0.1:%d", p.Ports[name]) }

// File is the path of a file below the control plane's folder.
func (p *Plane) File(elem ...string) string {
	return filepath.Join(append([]string{p.Dir}, elem...)...)
}
