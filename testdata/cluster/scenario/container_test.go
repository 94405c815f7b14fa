//go:build cluster

package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/testdata/cluster/container"
	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// A shipped is the action as users get it.
type shipped struct {
	root   string // the project
	engine *container.Engine
	image  container.Image
	folder string // what `uses: acme/knative-promote@v1` stands for
}

// TestContainer runs the action's image as GitHub does: the project's example
// workflows by act, and the image alone with the runner's signals.
func TestContainer(t *testing.T) {
	t.Parallel()
	a := ship(t)
	for name, scenario := range map[string]func(*testing.T, *shipped){
		"image":        imageHasNothingElse,
		"deploy":       deployOnPush,
		"environments": environmentsOnPush,
		"broken":       deployBroken,
		"rollback":     rollbackDispatched,
		"diff":         diffOfPullRequest,
		"prepare":      prepareOnPull,
		"step":         stepLeavesNothing,
		"hold":         cancelHolds,
		"take-back":    cancelRollsBack,
		"unreachable":  cancelRollsBackInVain,
	} {
		t.Run(name, func(t *testing.T) { scenario(t, a) })
	}
}

// ship builds the image and releases it.
func ship(t *testing.T) *shipped {
	t.Helper()
	const version = "v1.0.0"
	ctx := t.Context()
	root, err := plane.Root(ctx)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	engine, err := container.Start(ctx, root)
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	image, err := engine.Build(ctx, version)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the engine was ready in %s, the image in %s", started.Sub(began).Round(time.Second), time.Since(started).Round(time.Second))
	folder, err := engine.Release(ctx, image, version)
	if err != nil {
		t.Fatal(err)
	}
	return &shipped{root, engine, image, folder}
}

// imageHasNothingElse: in the image are the program and what it needs, and it
// runs where nothing can be written.
func imageHasNothingElse(t *testing.T, a *shipped) {
	files, err := a.engine.Files(t.Context(), a.image)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"drwxr-xr-x etc/", "drwxr-xr-x etc/ssl/", "drwxr-xr-x etc/ssl/certs/", "-rw-r--r-- etc/ssl/certs/ca-certificates.crt",
		"-rwxr-xr-x knative-promote", "dtrwxrwxrwx tmp/",
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files of the image (-want +got):\n%s", diff)
	}
	out, err := a.engine.Podman(t.Context(), "run", "--rm", "--read-only", "--network", "none", a.image.Ref(), "--version")
	if err != nil || out != "knative-promote v1.0.0" {
		t.Errorf("--version prints %q, %v", out, err)
	}
}

// workflow is an example workflow of the project in which what runs on this
// machine stands in for what is out there: pairs of texts, the first of which
// must be there.
func (a *shipped) workflow(s *site, file string, pairs ...string) string {
	s.Helper()
	content, err := os.ReadFile(filepath.Join(a.root, ".github/examples", file))
	s.must(err)
	text := string(content)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			s.Fatalf("%s does not have %q", file, pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// actions are the folders of all actions in the example workflows, but for
// actions/checkout, which act does itself.
func (a *shipped) actions() map[string]string {
	actions := a.engine.StandIns()
	actions["acme/knative-promote"] = a.folder
	return actions
}
