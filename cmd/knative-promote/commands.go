package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acme/knative-promote/cmd/knative-promote/exit"
	"github.com/acme/knative-promote/cmd/knative-promote/forges"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/cmd/knative-promote/manifests"
	"github.com/acme/knative-promote/cmd/knative-promote/proposed"
	"github.com/acme/knative-promote/cmd/knative-promote/reporter"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/internal/apart"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/event"
)

// A command is one thing that the program does. Which inputs it takes and
// cannot do without is in their rows.
type command struct {
	Name  inputs.Command
	Usage string
	Run   func(context.Context, task.Task) (event.Result, error)
}

// commandTable is the table of commands.
func commandTable() []command {
	return []command{
		{inputs.Promote, "set the image and shift the traffic in steps, one commit each (default)", changes(promote.Run)},
		{inputs.Rollback, "restore an earlier promotion in one commit", changes(promote.Rollback)},
		{inputs.Check, "look for what would break a promotion, and change nothing", surely(checkTarget)},
		{inputs.Diff, "show what would change, and change nothing", diffTarget},
		{inputs.Prepare, "make what a pull request changes of a template a candidate at 0 %, in a commit on its own branch", proposed.Prepare},
		{inputs.History, "list the promotions", surely(looks(listHistory))},
	}
}

// usageText is what --help prints.
func usageText() string {
	var b strings.Builder
	b.WriteString(`knative-promote promotes a Knative Service through the Git repository that Argo CD syncs.

Usage:
  knative-promote [COMMAND] [flags]

Commands:
`)
	for _, c := range commandTable() {
		fmt.Fprintf(&b, "  %-11s%s\n", c.Name, c.Usage)
	}
	b.WriteString(`
Every flag --NAME is also read from the environment as INPUT_NAME, with _ for -.
Secrets are read from there alone.
`)
	b.WriteString(inputs.Usage())
	b.WriteString("\nOther flags:\n  --help\n  --version\n\nExit codes:\n")
	for _, e := range exit.Table() {
		fmt.Fprintf(&b, "  %-3d%s: %s\n", e.Code, e.Name, e.Meaning)
	}
	return b.String()
}

// execute does what the settings ask for and says how it ended. The result is
// as complete as the run has come, also beside an error. The context ends when
// somebody cancels the run or its time is over.
func execute(ctx context.Context, t task.Task) (event.Result, error) {
	if err := forges.CheckPullRequest(ctx, t.Settings, t.Workflow, t.Console); err != nil {
		return t.Looked(ctx, err)
	}
	table := commandTable()
	asked := slices.IndexFunc(table, func(c command) bool { return c.Name == t.Settings.Command })
	return table[asked].Run(ctx, t)
}

// changes makes a command of what plans changes, and shows them as they go.
func changes(run func(context.Context, promote.Config, promote.Systems) ([]event.Result, error)) func(context.Context, task.Task) (event.Result, error) {
	return func(ctx context.Context, t task.Task) (event.Result, error) {
		show := reporter.New(ctx, t.Settings, t.Workflow, t.Console)
		on, err := t.Connect(show.Page)
		if err != nil {
			return t.Looked(ctx, err)
		}
		on.Reporter = show
		results, err := run(ctx, t.Settings.Promote, on)
		return show.End(ctx, results[0], err) // the inputs name one target
	}
}

// looks makes a command of what only looks.
func looks(look func(context.Context, task.Task) error) func(context.Context, task.Task) (event.Result, error) {
	return func(ctx context.Context, t task.Task) (event.Result, error) {
		return t.Looked(ctx, look(ctx, t))
	}
}

// surely makes a command of what changes nothing, and ends at most half a minute after its time: somebody else has written what it
// looks at.
func surely(run func(context.Context, task.Task) (event.Result, error)) func(context.Context, task.Task) (event.Result, error) {
	return func(ctx context.Context, t task.Task) (event.Result, error) {
		return apart.Surely(ctx, 30*time.Second, func(ctx context.Context) (event.Result, error) { return run(ctx, t) })
	}
}

// diffTarget shows what a promotion would change, and without an image what the
// checked-out commit changes.
func diffTarget(ctx context.Context, t task.Task) (event.Result, error) {
	if t.Settings.DiffsCheckout() {
		return surely(proposed.Diff)(ctx, t)
	}
	result, err := changes(promote.Run)(ctx, t)
	if err == nil {
		err = manifests.Write(t.Console, t.Settings.Manifests, manifests.Rendered{Overlay: result.Overlay, Before: result.Before, After: result.After})
	}
	return result, err
}
