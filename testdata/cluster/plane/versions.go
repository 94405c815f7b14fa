package plane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultVersions run when nothing else is asked for. They are the ones that
// the project's own clients are built with.
var DefaultVersions = Versions{ArgoCD: "2.14.21", Knative: "0.42.2"}

// Every version has a folder in testdata/cluster/modules, named NAME-vVERSION,
// with the Go module that its programs are built from. So adding a version is
// adding a folder.
const modulesFolder = "testdata/cluster/modules"

const (
	kubernetesModule = "kubernetes-v1.34.4"
	giteaModule      = "gitea-v1.26.0"
)

func (v Versions) argocd() string  { return "argocd-v" + v.ArgoCD }
func (v Versions) knative() string { return "knative-v" + v.Knative }

// modules are the folders that the control plane is built from.
func (o Options) modules() []string {
	all := []string{kubernetesModule, o.Versions.knative(), o.Versions.argocd()}
	if o.Forge {
		all = append(all, giteaModule)
	}
	return all
}

// source is the folder of a version's module. The error lists the versions
// that there are.
func source(root, module string) (string, error) {
	dir := filepath.Join(root, modulesFolder, module)
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return dir, nil
	}
	name, version, _ := strings.Cut(module, "-v")
	folders, err := filepath.Glob(filepath.Join(root, modulesFolder, name+"-v*"))
	if err != nil {
		return "", err
	}
	var versions []string
	for _, folder := range folders {
		versions = append(versions, strings.TrimPrefix(filepath.Base(folder), name+"-v"))
	}
	slices.Sort(versions)
	return "", fmt.Errorf("version %q of %s: expected one of %s", version, name, strings.Join(versions, ", "))
}

// Root is the folder of the project, found from the working folder.
func Root(ctx context.Context) (string, error) {
	return goList(ctx, ".", "github.com/acme/knative-promote")
}

// moduleDir is the folder of a dependency's source, as one of our modules
// chooses its version.
func moduleDir(ctx context.Context, dir, module string) (string, error) {
	// What is only wanted for its manifests need not be there after a build.
	if _, err := goCommand(ctx, dir, nil, "mod", "download", module); err != nil {
		return "", err
	}
	return goList(ctx, dir, module)
}

func goList(ctx context.Context, dir, module string) (string, error) {
	return goCommand(ctx, dir, nil, "list", "-m", "-f", "{{.Dir}}", module)
}

// goCommand runs go in a folder and returns what it prints.
func goCommand(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=readonly", "GOWORK=off"), env...)
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), dir, err, failed.String())
	}
	return strings.TrimSpace(string(out)), nil
}
