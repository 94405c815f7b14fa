// Sandbox shows the main job of knative-promote with nothing installed but Go
// and git. On loopback it starts a git server with an example infra
// repository, an Argo CD API server over a model of Knative and a GitHub API,
// and runs the real command against them as the Actions runner would: a good
// promotion in steps, a broken image that is rolled back, one that is healthy
// and fails some of its requests, a rollback by hand, and what has passed in
// staging promoted to production by its digest.
//
// It checks what it shows and ends with 1 where something is not as promised.
//
//	go run ./cmd/sandbox
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "github.com/acme/knative-promote/cmd/internal/argocdopts"
)

// patience ends a sandbox that hangs once the command is built, which takes minutes on a machine that has compiled
// nothing yet.
const patience = 20 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

// run tells all stories on one world.
func run(ctx context.Context, out io.Writer) error {
	fmt.Fprintln(out, "Building knative-promote ...")
	w, err := start(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if err := w.AwaitLive(ctx, service); err != nil {
		return err
	}
	began := time.Now()
	introduce(out, w)
	for i, s := range stories(w) {
		if err := tell(ctx, out, w, i+1, s); err != nil {
			return fmt.Errorf("story %d (%s): %w", i+1, s.title, err)
		}
	}
	fmt.Fprintf(out, "\nAll five stories went as promised, in %s.\n", time.Since(began).Round(time.Second))
	return nil
}

func introduce(out io.Writer, w *world) {
	fmt.Fprintf(out, `
Started on loopback:
  infra repository  %s
  Argo CD API       https://%s
  data path         http://%s (routes by the Host header, as Knative's ingress does)
  GitHub API        %s

The infra repository is testdata/infra. Argo CD syncs %s,
and %s runs %s.
`, w.Repository, w.Argo.Addr(), w.Argo.Ingress(), w.GitHub, overlay, service, "ghcr.io/acme/product-import:v1.0.0")
}
