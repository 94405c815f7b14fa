package main

import (
	"context"
	"slices"

	"github.com/acme/knative-promote/cmd/knative-promote/forges"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/event"
)

// A command is one thing that the program does. Which inputs it takes and
// cannot do without is in their rows.
type command struct {
	Name  inputs.Command
	Usage string
	Run   func(task, context.Context) (event.Result, error)
}

// commandTable is the table of commands.
func commandTable() []command {
	return []command{
		{inputs.Promote, "set the image and shift the traffic in steps, one commit each (default)", changes(promote.Run)},
		{inputs.Rollback, "restore an earlier promotion in one commit", changes(promote.Rollback)},
		{inputs.Check, "look for what would break a promotion, and change nothing", task.check},
		{inputs.Diff, "show what would change, and change nothing", task.diff},
		{inputs.Prepare, "make what a pull request changes of a template a candidate at 0 %, in a commit on its own branch", task.prepare},
		{inputs.History, "list the promotions", looks(task.history)},
	}
}

// A task is one call of a command: what is asked for, and where. Cancelled is
// closed when somebody cancels it, also one whose time is over.
type task struct {
	settings  inputs.Settings
	workflow  console.Workflow
	console   *console.Console
	cancelled <-chan struct{}
	infra     *infraBranch // read already; nil: not yet
}

// execute does what the settings ask for and says how it ended. The result is
// as complete as the run has come, also beside an error. The context ends when
// somebody cancels the run or its time is over.
func (t task) execute(ctx context.Context) (event.Result, error) {
	if err := forges.CheckPullRequest(ctx, t.settings, t.workflow, t.console); err != nil {
		return t.looked(ctx, err)
	}
	table := commandTable()
	asked := slices.IndexFunc(table, func(c command) bool { return c.Name == t.settings.Command })
	return table[asked].Run(t, ctx)
}

// changes makes a command of what plans changes, and shows them as they go.
func changes(run func(context.Context, promote.Config, promote.Systems) ([]event.Result, error)) func(task, context.Context) (event.Result, error) {
	return func(t task, ctx context.Context) (event.Result, error) {
		show := newReporter(ctx, t.settings, t.workflow, t.console)
		on, err := t.connect(show.page)
		if err != nil {
			return t.looked(ctx, err)
		}
		on.Reporter = show
		results, err := run(ctx, t.settings.Promote, on)
		return show.end(ctx, results[0], err) // the inputs name one target
	}
}

// looks makes a command of what only looks.
func looks(look func(task, context.Context) error) func(task, context.Context) (event.Result, error) {
	return func(t task, ctx context.Context) (event.Result, error) {
		return t.looked(ctx, look(t, ctx))
	}
}

// looked is how a command ends that has changed nothing.
func (t task) looked(ctx context.Context, err error) (event.Result, error) {
	status, err := promote.Ended(ctx, err)
	return event.Result{Command: t.settings.Command, Status: status}, err
}

// diff shows what a promotion would change, and without an image what the
// checked-out commit changes.
func (t task) diff(ctx context.Context) (event.Result, error) {
	if t.settings.DiffsCheckout() {
		return t.diffCheckout(ctx)
	}
	result, err := changes(promote.Run)(t, ctx)
	if err == nil {
		err = writeManifests(t, rendered{result.Overlay, result.Before, result.After})
	}
	return result, err
}
