package promote

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/windows"
)

// DefaultWindows is the file of the infra repository that says when a Service
// may be given more traffic, where no other one is named.
const DefaultWindows = ".promote/windows.yaml"

// An Override is what a run passes over: of the infra repository where that permits it, and
// of the record. The zero value is nothing.
type Override string

// What can be passed over.
const (
	OverrideFreeze Override = "freeze"      // what freezes promotions
	OverrideGuards Override = "guards"      // what the pipeline file wants of a promotion
	OverrideRecord Override = "rolled-back" // that the images were rolled back here last
)

// A FreezeError is a commit of a promotion that was not made, because the
// windows at the tip do not let the Service have more traffic now.
type FreezeError struct {
	File  string        // of the infra repository
	State windows.State // what closes it; the zero State where the file cannot be read
	Err   error         // why the file cannot be read, which counts as closed; nil: it can
	Asked bool          // whether an override was asked for
}

// Error says what freezes the Service, until when, and what to do.
func (e *FreezeError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v; nothing gets more traffic until it can be read: correct it in the infra repository", e.File, e.Err)
	}
	var causes []string
	for _, c := range e.State.Closed {
		causes = append(causes, c.String())
	}
	until := "the file changes"
	if !e.State.Next.IsZero() {
		until = windows.Format(e.State.Next)
	}
	text := fmt.Sprintf("frozen by %s: %s, until %s: start the run again then", e.File, strings.Join(causes, "; "), until)
	switch permitted := e.State.Overridable(); {
	case e.Asked && !permitted:
		text += "; override: freeze is not permitted: what freezes it does not say override: true"
	case permitted:
		text += ", or with override: freeze and a reason"
	}
	return text
}

// Unwrap gives the cause; nil where the file can be read.
func (e *FreezeError) Unwrap() error { return e.Err }

// isFreeze tells that windows are closed, or that they cannot be read, which
// counts as that.
func isFreeze(err error) bool {
	_, is := errors.AsType[*FreezeError](err)
	return is
}

// isFrozen tells that windows are closed which can be read.
func isFrozen(err error) bool {
	freeze, is := errors.AsType[*FreezeError](err)
	return is && freeze.Err == nil
}

// windows is the file that says when a Service may be given more traffic.
func (c Config) windows() string {
	if c.Windows != "" {
		return c.Windows
	}
	return DefaultWindows
}

// schedule reads the windows at a commit. Without a file there are none, unless
// one is named.
func (c Config) schedule(at gitops.Snapshot) (s windows.Schedule, exists bool, err error) {
	text, err := fs.ReadFile(at.Tree, c.windows())
	if err == nil {
		if s, err = windows.Parse(text); err != nil {
			err = &FreezeError{File: c.windows(), Err: err}
		}
		return s, true, err
	}
	switch info, unseen := fs.Lstat(at.Tree, c.windows()); {
	case errors.Is(unseen, fs.ErrNotExist) && c.Windows == "":
		return s, false, nil
	case errors.Is(unseen, fs.ErrNotExist):
		err = badInput("windows: not found at commit %.10s: expected a file, relative to the infra repository's root", at.Commit.Hash)
		return s, false, &FreezeError{File: c.windows(), Err: err}
	case unseen == nil && !info.Mode().IsRegular(): // a folder, or a link to nothing
		return s, true, &FreezeError{File: c.windows(), Err: fmt.Errorf("expected a file: %w", err)}
	}
	return s, true, fmt.Errorf("reading the windows: %w", err)
}

// shifts tells whether the steps give the new revision more traffic. Where it has
// had it all along, a promotion to another revision ends with this one.
func (p Plan) shifts() bool { return p.From != p.To }

// mayShift is nil where a commit on a tip may give the target more traffic now,
// and a *FreezeError where it may not.
func (p *part) mayShift(tip gitops.Snapshot, now time.Time) error {
	schedule, _, err := p.schedule(tip)
	if err != nil {
		return err
	}
	for _, environment := range p.environments(tip) {
		if state := schedule.At(now, environment, p.Service); !state.Open() {
			return &FreezeError{File: p.windows(), State: state, Asked: slices.Contains(p.Override, OverrideFreeze)}
		}
	}
	return nil
}

// environments are what the target's environment is called: by the run, and by the
// pipeline file, which knows it by its path. That one which cannot be read is for the
// guards to say.
func (p *part) environments(tip gitops.Snapshot) []string {
	names := []string{p.Environment}
	file, err := ReadPipeline(tip, p.Guards.Keys)
	if own := file.Of(p.Overlay, p.Service).Environment; err == nil && own != "" && own != p.Environment {
		names = append(names, own)
	}
	return names
}

// windowsNow are the windows at the tip, for the check. A file that is named and
// does not exist is an error.
func (p *part) windowsNow() (check.Windows, error) {
	schedule, exists, err := p.schedule(gitops.Snapshot{Commit: p.at.Tip, Tree: p.at.Tree})
	freeze, is := errors.AsType[*FreezeError](err)
	switch {
	case err == nil && !exists:
		return check.Windows{}, nil
	case err == nil:
		return check.Windows{File: p.windows(), State: schedule.At(time.Now(), p.Environment, p.Service)}, nil
	case is && exists:
		return check.Windows{File: p.windows(), Unreadable: freeze.Err}, nil
	}
	return check.Windows{}, err
}

// overridden is what an error is of, if the run asks to pass over it and the file
// permits that, and what is passed over in words; empty: it is nothing such.
func overridden(err error) (Override, []string) {
	if freeze, is := errors.AsType[*FreezeError](err); is && freeze.Err == nil && freeze.Asked && freeze.State.Overridable() {
		var causes []string
		for _, c := range freeze.State.Closed {
			causes = append(causes, c.String())
		}
		return OverrideFreeze, causes
	}
	if guard, is := errors.AsType[*GuardError](err); is && guard.Err == nil && guard.Asked && guard.Permitted {
		return OverrideGuards, guard.wants()
	}
	return "", nil
}

// tellFreeze says of a plan what freezes its next commit now.
func (p *part) tellFreeze() {
	if !p.plan.shifts() || !slices.ContainsFunc(p.plan.Steps, func(s PlannedStep) bool { return !s.Done }) {
		return
	}
	if err := p.mayShift(gitops.Snapshot{Commit: p.at.Tip, Tree: p.at.Tree}, time.Now()); err != nil {
		p.journal.explain("nothing would be pushed now: %v", err)
	}
}
