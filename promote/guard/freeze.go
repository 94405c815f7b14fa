package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/setting"
	"github.com/acme/knative-promote/promote/windows"
)

// DefaultWindows is the file of the infra repository that says when a Service
// may be given more traffic, where no other one is named.
const DefaultWindows = ".promote/windows.yaml"

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

// IsFreeze tells that windows are closed, or that they cannot be read, which counts as
// that.
func IsFreeze(err error) bool {
	_, is := errors.AsType[*FreezeError](err)
	return is
}

// IsFrozen tells that windows are closed which can be read.
func IsFrozen(err error) bool {
	freeze, is := errors.AsType[*FreezeError](err)
	return is && freeze.Err == nil
}

// File is the file that says when a Service may be given more traffic.
func (s Settings) File() string {
	if s.Windows != "" {
		return s.Windows
	}
	return DefaultWindows
}

// Schedule reads the windows at a commit. Without a file there are none, unless
// one is named.
func (s Settings) Schedule(at gitops.Snapshot) (schedule windows.Schedule, exists bool, err error) {
	text, err := fs.ReadFile(at.Tree, s.File())
	if err == nil {
		if schedule, err = windows.Parse(text); err != nil {
			err = &FreezeError{File: s.File(), Err: err}
		}
		return schedule, true, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		if isFolder(at.Tree, s.File()) {
			return schedule, true, &FreezeError{File: s.File(), Err: fmt.Errorf("expected a file: %w", err)}
		}
		return schedule, true, fmt.Errorf("reading the windows: %w", err)
	}
	if err := meant(at.Tree, s.File()); err != nil {
		return schedule, true, &FreezeError{File: s.File(), Err: err}
	}
	if s.Windows != "" {
		err := setting.Bad("windows: not found at commit %.10s: expected a file, relative to the infra repository's root", at.Commit.Hash)
		return schedule, false, &FreezeError{File: s.File(), Err: err}
	}
	return schedule, false, nil
}

// MayShift is nil where a commit on a tip may give the target more traffic now, and a
// *FreezeError where it may not.
func (s Settings) MayShift(tip gitops.Snapshot, t Target, now time.Time) error {
	schedule, _, err := s.Schedule(tip)
	if err != nil {
		return err
	}
	if state := schedule.At(now, t.Service, s.Environment(tip, t)); !state.Open() {
		return &FreezeError{File: s.File(), State: state, Asked: s.PassesOver(OverrideFreeze)}
	}
	return nil
}

// Environment is what the target's environment is called: by its folder, by the pipeline file, which knows it by its path,
// and by the run, whose name is added to those. A pipeline file that cannot be read is for the pipeline's guards to say.
func (s Settings) Environment(tip gitops.Snapshot, t Target) windows.Environment {
	environment := windows.Environment{Own: []string{path.Base(t.Overlay)}, Added: t.Environment}
	file, err := ReadPipeline(tip, s.Keys)
	if err == nil {
		if rules, err := file.Of(t.Overlay, t.Service); err == nil && rules.Known() {
			environment.Own = append(environment.Own, rules.Environment)
		}
	}
	return environment
}
