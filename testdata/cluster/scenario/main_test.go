//go:build cluster

// Package scenario runs the built program against a real Argo CD and a real
// Knative Serving, and reads the truth from Kubernetes, Git and the data path,
// never from the program's own output alone.
//
//	go test -C testdata/cluster -tags cluster ./scenario
//
// Every scenario has a Service, an infra repository and a namespace of its
// own, so that all of them run side by side on one control plane. What stops
// parts of it, or changes Argo CD's own settings, runs alone, before the
// others: such a test does not call t.Parallel.
package scenario

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/acme/knative-promote/testdata/cluster/plane"
)

var (
	argocdVersion  = flag.String("argocd", "", "version of Argo CD")
	knativeVersion = flag.String("knative", "", "version of Knative Serving")
	use            = flag.String("use", "", "name of a control plane that is up already, and stays up")
)

// What all scenarios share. It is set once, before the first of them.
var (
	world   *plane.Plane
	kube    *plane.Kube
	program string // the built knative-promote
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(with(context.Background(), m.Run))
}

// with runs the tests on a control plane.
func with(ctx context.Context, tests func() int) int {
	folder, err := os.MkdirTemp("", "scenario")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(folder)
	if program, err = buildProgram(ctx, folder); err != nil {
		return failed(err)
	}
	o := plane.Options{Name: *use, Forge: true, Prometheus: true, Progress: os.Stderr, Versions: plane.Versions{ArgoCD: *argocdVersion, Knative: *knativeVersion}}
	if *use != "" {
		world, err = plane.Open(o)
	} else {
		o.Name = fmt.Sprintf("scenario-%d", os.Getpid())
		world, err = plane.Up(ctx, o)
	}
	if err != nil {
		return failed(err)
	}
	if *use == "" {
		defer world.Down()
	}
	if kube, err = world.Kube(); err != nil {
		return failed(err)
	}
	return recorded(ctx, tests)
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "scenario:", err)
	return 1
}

// buildProgram builds the program that users run, with the Dockerfile's flags:
// what is compiled here needs not be compiled again for the image.
func buildProgram(ctx context.Context, folder string) (string, error) {
	root, err := plane.Root(ctx)
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "knative-promote")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", file, "./cmd/knative-promote")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building knative-promote: %w\n%s", err, out)
	}
	return file, nil
}
