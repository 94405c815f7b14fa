package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/forges"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/record"
)

// A call is the program as it was called, before anything is read.
type call struct {
	getenv    func(string) string
	workflow  console.Workflow
	console   *console.Console
	cancelled <-chan struct{}
}

// read reads the inputs, and what the pipeline file says of the target. Where the
// inputs are complete without that file, what keeps the tip from being read is said
// where the run reads it, and what rolls back or looks goes on without a file that
// cannot be read.
func (c call) read(ctx context.Context, arguments inputs.Arguments) (task.Task, error) {
	s, wrong := inputs.Read(arguments, c.getenv, c.workflow, pipeline.File{})
	t := task.Task{Settings: s, Workflow: c.workflow, Console: c.console, Cancelled: c.cancelled}
	if !s.Reached || !s.WantsPipeline() {
		return t, wrong
	}
	file, err := readPipeline(ctx, &t)
	if s.Command == inputs.Rollback && !t.Infra.Unread() {
		arguments, file, err = c.pipelineBefore(ctx, t, arguments, file, err)
	}
	if err != nil && (wrong != nil || s.NeedsPipeline() && !t.Infra.Unread()) {
		return t, err
	}
	if err != nil && !t.Infra.Unread() && s.Command != inputs.Check { // which has a finding for it
		c.console.Warning(console.Note{Title: "Going on without the pipeline file", Text: err.Error()})
	}
	c.console.Hide(inputs.Tokens(file, c.getenv)...)
	t.Settings, wrong = inputs.Read(arguments, c.getenv, c.workflow, file)
	return t, wrong
}

// readPipeline reads the pipeline file at the tip.
func readPipeline(ctx context.Context, t *task.Task) (pipeline.File, error) {
	limited, cancel := context.WithTimeoutCause(ctx, t.Settings.Timeout, gate.ErrTimeout)
	defer cancel()
	if t.Settings.Checkout {
		tip, err := forges.CheckedOut{Folder: t.Workflow.Workspace}.Tip(limited)
		if err != nil {
			return pipeline.File{}, err
		}
		return guard.ReadPipeline(tip, inputs.FileKeys())
	}
	opened, err := t.Open()
	if err != nil {
		return pipeline.File{}, err
	}
	t.Infra = opened
	tip, err := opened.Look(limited)
	if err != nil {
		return pipeline.File{}, err
	}
	file, err := guard.ReadPipeline(tip, inputs.FileKeys())
	return file, promote.Overdue(limited, err)
}

// oneByOne promotes several environments, one after the other and each as a run
// of its own, until one does not end promoted or wants an approval: the job has
// that of no single one. The Result is the last one's, and changed where any run has
// pushed a commit.
func (c call) oneByOne(ctx context.Context, environments []string, arguments inputs.Arguments) (last event.Result, err error) {
	changed, has := false, map[string]string{} // by overlay: the revision that this run has promoted
	defer func() { last.Changed = last.Changed || changed }()
	once := func(i int) {
		changed = changed || last.Changed
		c.console.Printf("environment %s, %d of %s", environments[i], i+1, strings.Join(environments, ", "))
		last, err = c.oneOf(ctx, arguments.For(environments[i]), last)
	}
	for i, environment := range environments {
		if once(i); behind(last, has) {
			c.console.Printf("%s has ended the promotion that was under way, of what its source had before: once more, for what that has now", environment)
			once(i)
		}
		if err != nil || last.Status != event.Promoted && last.Status != event.Unchanged {
			if i > 0 {
				c.console.Printf("what was promoted to %s before that stays", strings.Join(environments[:i], ", "))
			}
			return last, err
		}
		has[last.Overlay] = last.Revision
	}
	return last, nil
}

// oneOf promotes one of several environments, after the Result of the one before.
func (c call) oneOf(ctx context.Context, arguments inputs.Arguments, before event.Result) (event.Result, error) {
	t, err := c.read(ctx, arguments)
	if err == nil && t.Settings.Rules.Approval > 0 {
		return c.heldBefore(before, t.Settings), nil
	}
	c.console.BeginSummary()
	return begin(ctx, t, err)
}

// behind tells whether a promotion took its images from an environment before that one was
// promoted in this run, to the revision that has tells by overlay: it went on with what was
// under way.
func behind(result event.Result, has map[string]string) bool {
	return result.Status == event.Promoted && slices.ContainsFunc(result.Source.All(), func(s record.Source) bool {
		now, is := has[s.Overlay]
		return is && now != s.Revision
	})
}

// heldBefore is how a run over several environments ends before one that wants an
// approval: with the Result of the one before, held.
func (c call) heldBefore(last event.Result, s inputs.Settings) event.Result {
	if last.Overlay == "" {
		last.Target = promote.Named(s.Target) // it is the first of them
	}
	last.Command, last.Status = s.Command, event.Held
	last.Reason = fmt.Sprintf("held before %s, which wants an approval (%s:%d): promote it alone, in a job with a GitHub environment that has reviewers", s.Target.Environment, pipeline.Name, s.Rules.Approval)
	c.console.Printf("%s", last.Reason)
	return last
}

// noteApproval keeps who has approved of the run where the file wants somebody to:
// by then the job's GitHub environment has let it begin. Where nobody has, or nobody
// can tell, the run makes no commit that the file guards, unless the file permits that.
// The answer is not waited for longer than what shows a run.
func noteApproval(ctx context.Context, t *task.Task) {
	s := &t.Settings
	if s.Command != inputs.Promote || s.Promote.DryRun {
		return
	}
	if s.Rules.Approval == 0 {
		s.Promote.Guards.Unasked = true
		return
	}
	limited, cancel := context.WithTimeout(ctx, forges.FollowTime)
	defer cancel()
	names, err := approvals(limited, t)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = errors.New("reading who has approved of this workflow run: the GitHub API took too long")
	}
	if err != nil {
		s.Promote.Guards.Unknown = err.Error()
		if s.Rules.IfKnown {
			t.Console.Warning(console.Note{Title: "Approval not recorded", Text: err.Error()})
		}
		return
	}
	s.Promote.Approved = strings.Join(names, ", ")
	s.Promote.Guards.Unapproved = len(names) == 0
}

// approvals are who has approved of the environment in this workflow run.
func approvals(ctx context.Context, t *task.Task) ([]string, error) {
	if t.Workflow.Repository == "" || t.Workflow.RunURL == "" {
		return nil, errors.New("nobody knows who has approved of a run outside of GitHub Actions")
	}
	run, err := strconv.ParseInt(path.Base(t.Workflow.RunURL), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_RUN_ID: expected a number: %w", err)
	}
	hub, err := forges.Open(t.Settings, t.Workflow, t.Console)
	if err != nil {
		return nil, err
	}
	return hub.Approvals(ctx, run, t.Settings.Rules.Environment)
}
