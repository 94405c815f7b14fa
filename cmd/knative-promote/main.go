// Knative-promote promotes a Knative Service through the Git repository that
// Argo CD syncs. It is a GitHub Action, which takes its inputs from the
// environment, and a command, which takes them as flags too; --help lists
// them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	_ "time/tzdata" // the image has no time zones, and sync windows have

	"github.com/sirupsen/logrus"

	_ "github.com/acme/knative-promote/cmd/internal/argocdopts"
	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote"
)

func main() {
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

// run is the whole program as a value: it ends with the exit code.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) (code int) {
	r := console.New(getenv, stdout, stderr)
	defer func() {
		if cause := recover(); cause != nil {
			r.EndGroup()
			r.Error(console.Note{Title: "Internal error", Text: panicLine(cause)})
			code = exitInternal
		}
	}()
	arguments := inputs.Parse(args)
	switch {
	case arguments.Help:
		fmt.Fprint(stdout, usageText())
		return exitOK
	case arguments.Version:
		fmt.Fprintln(stdout, "knative-promote", versionOf())
		return exitOK
	}
	quiet(r)
	result, err := start(ctx, arguments, getenv, r)
	return finish(r, result, err)
}

// start reads the settings and does what they ask for.
func start(ctx context.Context, arguments inputs.Arguments, getenv func(string) string, r *console.Console) (promote.Result, error) {
	r.Hide(inputs.Secrets(getenv)...)
	w, eventErr := console.ReadWorkflow(getenv)
	s, err := inputs.Read(arguments, getenv, w)
	if eventErr != nil && !s.Command.Pushes() {
		r.Warning(console.Note{Title: "Event not read", Text: eventErr.Error()})
	}
	if err != nil {
		return promote.Result{Status: promote.Failed}, err
	}
	s.Argo.UserAgent = "knative-promote/" + versionOf()
	for _, text := range s.Warnings() {
		r.Warning(console.Note{Title: "Inputs", Text: text})
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.Timeout, promote.ErrTimeout)
	defer cancel()
	return execute(limited, ctx.Done(), s, w, r)
}

// finish tells the runner how it ended.
func finish(r *console.Console, result promote.Result, err error) int {
	r.EndGroup()
	if err := r.SetOutputs(outputsOf(result)); err != nil {
		r.Warning(console.Note{Title: "Outputs not set", Text: err.Error()})
	}
	code := exitCode(err, result)
	if result.Warning != "" {
		r.Warning(console.Note{Title: "Not complete", Text: result.Warning})
	}
	if bad, ok := errors.AsType[*inputs.BadInput](err); ok {
		for _, line := range bad.Lines {
			r.Error(console.Note{Title: "Bad input", Text: line})
		}
	} else if err != nil {
		r.Error(console.Note{Title: exitName(code), Text: err.Error()})
	}
	return code
}

// quiet sends what the libraries log on their own to the debug lines.
func quiet(r *console.Console) {
	log.SetOutput(r)
	logrus.SetOutput(r)
}

// panicLine is what a user can report, in one line: the cause and where.
func panicLine(cause any) string {
	where := ""
	for line := range strings.Lines(string(debug.Stack())) {
		if at, found := strings.CutPrefix(line, "\t"); found && strings.Contains(at, "knative-promote/") && !strings.Contains(at, "main.go") {
			where, _, _ = strings.Cut(" at "+strings.TrimSpace(at), " +0x")
			break
		}
	}
	return fmt.Sprintf("please report this: %.300s%s", console.OneLine(fmt.Sprint(cause)), where)
}

// version is set by the linker in released images.
var version string

// versionOf is the program's version.
func versionOf() string {
	if info, ok := debug.ReadBuildInfo(); version == "" && ok {
		return info.Main.Version
	}
	return version
}
