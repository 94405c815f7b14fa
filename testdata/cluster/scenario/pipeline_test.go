//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// pipeline is what most people have instead of the project: it ends when Argo
// CD's command line says that all is well.
const pipeline = `
set -e
cd "$HOME"
git clone --quiet --depth 1 "$REPOSITORY" infra
cd "infra/$OVERLAY"
kustomize edit set image "$IMAGE"
git -c user.name=ci -c user.email=ci@example.com commit --quiet --all --message "Set the image"
git push --quiet
` + waitForApp

const waitForApp = `
argocd app get "$APPLICATION" --refresh >/dev/null
exec argocd app wait "$APPLICATION" --sync --health --operation --timeout 120 >/dev/null
`

// shell runs such a script. It is safe beside the test's own goroutine.
func (s *site) shell(ctx context.Context, script, tag string) error {
	home, err := os.MkdirTemp("", "pipeline")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	address, err := url.Parse(s.URL)
	if err != nil {
		return err
	}
	address.User = url.UserPassword("ci", gitPassword)
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Env = []string{
		"HOME=" + home, "PATH=" + filepath.Dir(world.Program("argocd")) + ":" + os.Getenv("PATH"),
		"ARGOCD_SERVER=" + world.ArgoCDServer(), "ARGOCD_AUTH_TOKEN=" + world.Tokens["ci"], "ARGOCD_OPTS=--grpc-web --server-crt " + world.CA(),
		"REPOSITORY=" + address.String(), "OVERLAY=" + s.Overlay, "IMAGE=" + s.Image + ":" + tag, "APPLICATION=" + s.App.GetName(),
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that what it has started ends with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the pipeline: %w\n%s", err, out)
	}
	return nil
}

// appWait tells whether `argocd app wait` says that the commit which comes
// after good is healthy: asked as pipelines do, when that commit is pushed,
// and until it has an answer or the commit is rolled back.
func (s *site) appWait(ctx context.Context, good string) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	first, _ := s.moves(ctx, good)
	go func() {
		defer stop()
		for seen := []string{good, first}; ; {
			next, _ := s.moves(ctx, seen...)
			subject, err := gittest.Git(s.Dir, nil, "log", "-1", "--format=%s", next)
			if next == "" || err != nil || strings.Contains(subject, ": back to ") {
				return
			}
			seen = append(seen, next)
		}
	}()
	return s.shell(ctx, waitForApp, "") == nil && ctx.Err() == nil
}

// report shows a table at a scenario's end, and keeps it as NAME.md in the
// folder that SCENARIO_REPORT names.
func report(t *testing.T, name, table string) {
	t.Helper()
	t.Logf("%s\n%s", name, table)
	folder := os.Getenv("SCENARIO_REPORT")
	if folder == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".md"), []byte(table), 0o644); err != nil {
		t.Error(err)
	}
}
