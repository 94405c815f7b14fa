package plane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A program is one binary that is built from a module.
type program struct {
	Name    string
	Package string
	LDFlags string
	Tags    string
	CGO     bool
	Overlay func(ctx context.Context, dir, scratch string) (string, error) // makes a file for go build -overlay
}

// Programs are the folders that the built programs are in, by module.
type Programs map[string]string

// path is where a program of a module is.
func (p Programs) path(module, name string) string { return filepath.Join(p[module], name) }

// self holds what is built from the project itself: the Git server and the
// cache that Argo CD wants.
const self = "cluster"

// Build builds the programs that are not built yet. The first time takes
// minutes, since Kubernetes, Knative and Argo CD are compiled.
func Build(ctx context.Context, o Options) (Programs, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	root, err := Root(ctx)
	if err != nil {
		return nil, err
	}
	built := Programs{}
	for _, module := range o.modules() {
		dir, err := source(root, module)
		if err != nil {
			return nil, err
		}
		if built[module], err = o.buildModule(ctx, module, dir); err != nil {
			return nil, err
		}
	}
	if o.Prometheus {
		if _, err := o.prometheusProgram(ctx); err != nil {
			return nil, err
		}
	}
	built[self] = filepath.Join(o.Home, "bin", self)
	_, err = goCommand(ctx, filepath.Join(root, "testdata/cluster"), nil, "build", "-o", filepath.Join(built[self], self), ".")
	return built, err
}

// buildModule builds the programs of one module, unless they are there from
// the same sources.
func (o Options) buildModule(ctx context.Context, module, dir string) (string, error) {
	into := filepath.Join(o.Home, "bin", module)
	stamp, err := fingerprint(module, dir)
	if err != nil {
		return "", err
	}
	stampFile := filepath.Join(into, "sources.sha256")
	if old, err := os.ReadFile(stampFile); err == nil && string(old) == stamp {
		return into, nil
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return "", err
	}
	for _, p := range programsOf(module) {
		started := time.Now()
		o.say("building %s of %s …", p.Name, strings.Replace(module, "-v", " ", 1))
		if err := p.build(ctx, dir, into); err != nil {
			return "", err
		}
		o.say("built %s in %.0f s", p.Name, time.Since(started).Seconds())
	}
	return into, os.WriteFile(stampFile, []byte(stamp), 0o644)
}

// noInlining saves a third of the time that compiling takes. The programs
// compute a sixth longer then: two or three runs of all scenarios use up what
// it saves, but CI compiles for one.
const noInlining = "-gcflags=all=-l"

func (p program) build(ctx context.Context, dir, into string) error {
	args := []string{"build", noInlining, "-ldflags", "-s -w " + p.LDFlags, "-tags", p.Tags, "-o", filepath.Join(into, p.Name)}
	if p.Overlay != nil {
		scratch, err := os.MkdirTemp("", "cluster-overlay")
		if err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
		overlay, err := p.Overlay(ctx, dir, scratch)
		if err != nil {
			return fmt.Errorf("building %s: %w", p.Name, err)
		}
		args = append(args, "-overlay", overlay)
	}
	cgo := "CGO_ENABLED=0"
	if p.CGO {
		cgo = "CGO_ENABLED=1"
	}
	_, err := goCommand(ctx, dir, []string{cgo}, append(args, p.Package)...)
	return err
}

// programsOf are the programs of a module, by the name before its version.
func programsOf(module string) []program {
	switch name, _, _ := strings.Cut(module, "-v"); name {
	case "kubernetes":
		return kubernetesPrograms()
	case "knative":
		return knativePrograms()
	case "argocd":
		return argocdPrograms(module)
	case "gitea":
		return []program{giteaProgram()}
	}
	return nil
}

// fingerprint changes whenever the programs of a module have to be built anew.
func fingerprint(module, dir string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOARCH, noInlining)
	for _, p := range programsOf(module) {
		fmt.Fprintln(sum, p.Name, p.Package, p.LDFlags, p.Tags, p.CGO)
	}
	if err := hashFiles(sum, dir); err != nil {
		return "", err
	}
	if strings.HasPrefix(module, "knative-") { // it links cluster/below
		if err := hashFiles(sum, filepath.Join(dir, "../../below")); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func hashFiles(sum io.Writer, folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		fmt.Fprintln(sum, entry.Name())
		_, err = io.Copy(sum, file)
		return err
	})
}
