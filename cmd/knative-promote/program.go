package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/sirupsen/logrus"

	"github.com/acme/knative-promote/cmd/internal/version"
	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/exit"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
)

// run is the whole program as a value: it ends with the exit code.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) (code int) {
	r := console.New(getenv, stdout, stderr)
	defer func() {
		if cause := recover(); cause != nil {
			r.EndGroup()
			r.Error(console.Note{Title: "Internal error", Text: panicLine(cause)})
			code = exit.Internal
		}
	}()
	arguments := inputs.Parse(args)
	switch {
	case arguments.Help:
		fmt.Fprint(stdout, usageText())
		return exit.OK
	case arguments.Version:
		fmt.Fprintln(stdout, "knative-promote", version.Of())
		return exit.OK
	}
	quiet(r)
	result, err := start(ctx, arguments, getenv, r)
	return finish(r, result, err)
}

// start reads the settings and does what they ask for.
func start(ctx context.Context, arguments inputs.Arguments, getenv func(string) string, r *console.Console) (event.Result, error) {
	r.Hide(inputs.Secrets(getenv)...)
	w, eventErr := console.ReadWorkflow(getenv)
	c := call{getenv: getenv, workflow: w, console: r, cancelled: ctx.Done()}
	t, err := c.read(ctx, arguments)
	if eventErr != nil && !t.Settings.Command.Pushes() {
		r.Warning(console.Note{Title: "Event not read", Text: eventErr.Error()})
	}
	if err == nil && len(t.Settings.Several) > 0 {
		return c.oneByOne(ctx, t.Settings.Several, arguments)
	}
	return begin(ctx, t, err)
}

// begin does what the settings ask for, unless something is wrong with them.
func begin(ctx context.Context, t task.Task, wrong error) (event.Result, error) {
	if wrong != nil {
		return event.Result{Status: beforehand(wrong)}, wrong
	}
	s, r := &t.Settings, t.Console
	s.Promote.Gates.Route.Wrap = r.Trace("Probe")
	r.Debugf("version %s, asked for: %s", version.Of(), s.CommandLine(s.Command, func(inputs.Input) bool { return true }))
	for _, text := range s.Warnings() {
		r.Warning(console.Note{Title: "Inputs", Text: text})
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.Timeout, gate.ErrTimeout)
	defer cancel()
	noteApproval(limited, &t)
	noteCodeTime(limited, &t)
	return execute(limited, t)
}

// noteCodeTime finds out when the service's commit was made where the event does not
// say it, but the job has checked just that commit out.
func noteCodeTime(ctx context.Context, t *task.Task) {
	code := &t.Settings.Promote.Code
	if code.Commit == "" || !code.At.IsZero() || !t.Settings.Command.Pushes() {
		return
	}
	head, err := gitops.Checkout(ctx, t.Workflow.Workspace)
	if err == nil && head.Commit.Hash == t.Workflow.SHA { // else it is not known
		code.At = head.Commit.Time
	}
}

// beforehand is how a run ended that did not come to its command.
func beforehand(err error) event.Status {
	if exit.OfError(err) == exit.Cancelled {
		return event.Cancelled
	}
	return event.Failed
}

// finish tells the runner how it ended.
func finish(r *console.Console, result event.Result, err error) int {
	r.EndGroup()
	if err := r.SetOutputs(outputsOf(result)); err != nil {
		r.Warning(console.Note{Title: "Outputs not set", Text: err.Error()})
	}
	code := exit.Code(err, result)
	if result.Warning != "" {
		r.Warning(console.Note{Title: "Not complete", Text: result.Warning})
	}
	if bad, ok := errors.AsType[*inputs.BadInput](err); ok {
		for _, line := range bad.Lines {
			r.Error(console.Note{Title: "Bad input", Text: line})
		}
	} else if err != nil {
		r.Error(console.Note{Title: exit.Title(code, err), Text: err.Error()})
	}
	return code
}

// quiet sends what the libraries log on their own to the debug lines.
func quiet(r *console.Console) {
	log.SetOutput(r)
	logrus.SetOutput(r)
}
