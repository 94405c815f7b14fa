// Package task is one call of a command: what it is asked for, and the infra repository, Argo
// CD, the forge and Prometheus that it works on.
package task

import (
	"context"
	"errors"
	"io/fs"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/forges"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/setting"
)

// A Task is one call of a command: what is asked for, and where. Cancelled is
// closed when somebody cancels it, also one whose time is over.
type Task struct {
	Settings  inputs.Settings
	Workflow  console.Workflow
	Console   *console.Console
	Cancelled <-chan struct{}
	Infra     *Branch // read already; nil: not yet
}

// Looked is how a command ends that has changed nothing.
func (t Task) Looked(ctx context.Context, err error) (event.Result, error) {
	status, err := promote.Ended(ctx, err)
	return event.Result{Command: t.Settings.Command, Status: status}, err
}

// Open opens the infra repository, unless it is open already.
func (t Task) Open() (*Branch, error) {
	if t.Infra != nil {
		return t.Infra, nil
	}
	return t.OpenBranch(t.Settings.Remote.Branch)
}

// OpenBranch opens the infra repository for one of its branches, with tokens of the
// GitHub App where there is one. Its forge is asked with the same tokens.
func (t Task) OpenBranch(branch string) (*Branch, error) {
	forge, err := forges.OpenInfra(t.Settings, t.Workflow, t.Console, github.Contents)
	if err != nil {
		return nil, badSetting(err)
	}
	remote := t.Settings.Remote
	remote.Branch = branch
	remote.Around, remote.Exchanged = t.Console.Trace("Git"), t.Console.Exchanged("Git", remote.URL)
	if t.Settings.App.ID != "" {
		remote.Mint = forge.Token
	}
	repo, err := gitops.Open(remote)
	return &Branch{Repo: repo, forge: forge}, badSetting(err)
}

// badSetting is the error of a client that cannot be made. Nobody has been asked
// by then, so it is the inputs that are wrong, unless a file could not be
// written.
func badSetting(err error) error {
	if _, file := errors.AsType[*fs.PathError](err); err == nil || file {
		return err
	}
	return &setting.InputError{Err: err}
}
