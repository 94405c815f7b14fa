// Knative-promote promotes a Knative Service through the Git repository that
// Argo CD syncs. It is a GitHub Action, which takes its inputs from the
// environment, and a command, which takes them as flags too; --help lists
// them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // the image has no time zones, and sync windows have

	_ "github.com/acme/knative-promote/cmd/internal/argocdopts"
	"github.com/acme/knative-promote/internal/httpx"
)

func main() {
	httpx.RefuseOthers()
	// A reader of our output that goes away must not end a promotion half-way.
	signal.Ignore(syscall.SIGPIPE)
	// The Actions runner sends SIGINT, 7.5 s later SIGTERM, 2.5 s later SIGKILL.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	stderr := os.Stderr
	// kustomize warns there of deprecated fields, anew with every render.
	if nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = nowhere
	}
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, stderr))
}
