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
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/apart"
	"github.com/acme/knative-promote/internal/httpx"
	"github.com/acme/knative-promote/promote/policy"
)

// workApart is the argument of the process that works for another one.
const workApart = "work-apart"

// parts are what works in that process.
var parts = []apart.Part{kustomize.Apart, policy.Apart}

func main() {
	if len(os.Args) == 2 && os.Args[1] == workApart {
		apart.Serve(os.Stdin, os.Stdout, apart.MostMemory, os.Exit, parts...)
		return
	}
	httpx.RefuseOthers()
	partsApart()
	// A reader of our output that goes away must not end a promotion half-way.
	signal.Ignore(syscall.SIGPIPE)
	// The Actions runner sends SIGINT, 7.5 s later SIGTERM, 2.5 s later SIGKILL.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// partsApart has the parts work in a process of the same program, with no token and no other program at hand.
func partsApart() {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	apart.By(self, workApart)
}
