// Package guard tells whether a commit may give a Service more traffic, by what its parent
// in the infra repository says: by the windows, which freeze promotions, and by the pipeline
// file, which may want more of a promotion than the run keeps. It reads files and knows
// nothing of the run.
package guard

import (
	"errors"
	"slices"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/pipeline"
)

// Settings are what a run was given of what the infra repository may want. With the zero
// Settings nobody reads the pipeline file, and the windows are in DefaultWindows.
type Settings struct {
	Windows    string            // file that must exist; empty: DefaultWindows, if there is one
	Override   []Override        // what the run passes over
	Given      map[string]string // values of inputs, by their names
	Keys       pipeline.Keys     // of the pipeline file
	Unasked    bool              // the run began without asking whether somebody has approved of it
	Unapproved bool              // nobody has approved of it
	Unknown    string            // why nobody can tell whether somebody has; empty: it is known
}

// A Target is what is given traffic, as the files name it.
type Target struct {
	Environment, Overlay, Service string
}

// An Override is what a run passes over: of the infra repository where that permits it, and
// of the record. The zero value is nothing.
type Override string

// What can be passed over.
const (
	OverrideFreeze     Override = "freeze"      // what freezes promotions
	OverridePipeline   Override = "guards"      // what the pipeline file wants of a promotion
	OverrideRolledBack Override = "rolled-back" // that the images were rolled back here last
)

// PassesOver tells whether the run asks to pass over something.
func (s Settings) PassesOver(what Override) bool { return slices.Contains(s.Override, what) }

// Permits is nil where a commit on a tip may give the target more traffic now, but for what
// is in over. Else it is a *PipelineError or a *FreezeError, or of reading the repository.
func (s Settings) Permits(tip gitops.Snapshot, t Target, now time.Time, over []Override) error {
	for _, asks := range []func() error{
		func() error { return s.keeps(tip, t) },
		func() error { return s.MayShift(tip, t, now) },
	} {
		err := asks()
		if o, _ := Overridden(err); err != nil && (o == "" || !slices.Contains(over, o)) {
			return err
		}
	}
	return nil
}

// Overridden is what an error is of, if the run asks to pass over it and the file
// permits that, and what is passed over in words; empty: it is nothing such.
func Overridden(err error) (Override, []string) {
	if freeze, is := errors.AsType[*FreezeError](err); is && freeze.Err == nil && freeze.Asked && freeze.State.Overridable() {
		var causes []string
		for _, c := range freeze.State.Closed {
			causes = append(causes, c.String())
		}
		return OverrideFreeze, causes
	}
	if wants, is := errors.AsType[*PipelineError](err); is && wants.Err == nil && wants.Asked && wants.Permitted {
		return OverridePipeline, wants.wants()
	}
	return "", nil
}

// Holds tells whether an error is of windows or of the pipeline file, also where they
// cannot be read, which permits nothing.
func Holds(err error) bool {
	_, wants := errors.AsType[*PipelineError](err)
	return wants || IsFreeze(err)
}
