package proposal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/windows"
)

// A FileChange is what a Proposal changes of a file of the infra repository that
// runs go by. The zero value is nothing.
type FileChange struct {
	File           string
	Findings       []event.Finding
	Removed, Added []string // what it says, in words
}

// Windows say of each file of windows, of the input or of the pipeline file, before or after, what the head changes of
// them, and what is wrong with them then. The error is of reading the repository.
func (p Proposal) Windows() (changes []FileChange, err error) {
	files := slices.Concat(p.was.File.Files("windows"), p.is.File.Files("windows"))
	slices.Sort(files)
	own := p.settings.Guards.File()
	files = slices.DeleteFunc(slices.Compact(files), func(file string) bool { return file == own })
	read := []guard.Settings{p.settings.Guards}
	for _, file := range files {
		read = append(read, guard.Settings{Windows: file})
	}
	for _, settings := range read {
		change, err := p.windows(settings)
		if err != nil {
			return nil, err
		}
		if change.File != "" {
			changes = append(changes, change)
		}
	}
	return changes, nil
}

// windows are the changes of the file of some settings; the zero FileChange: nothing.
func (p Proposal) windows(of guard.Settings) (FileChange, error) {
	before, unreadBefore, err := schedule(of, p.base)
	if err != nil {
		return FileChange{}, fmt.Errorf("at commit %.10s: %w", p.base.Commit.Hash, err)
	}
	after, unread, err := schedule(of, p.head)
	if !names(of, p.settings.Guards, p.was.File) {
		unreadBefore = nil // nobody has read it
	}
	if !names(of, p.settings.Guards, p.is.File) {
		unread = nil // and nobody will
	}
	if err != nil || !p.changes(of.File()) && !broken(unreadBefore, unread) {
		return FileChange{}, err
	}
	change := FileChange{File: of.File()}
	if unread != nil {
		facts := check.Facts{Windows: check.Windows{File: change.File, Unreadable: unread}}
		change.Findings = check.Proposed(facts, p.settings.Skip...)
		return change, nil
	}
	change.Findings = p.misnamed(change.File, after)
	difference := windows.Compare(before, after) // of what could not be read: nothing
	change.Removed, change.Added = difference.Removed, difference.Added
	return change, nil
}

// names tells whether the file of some settings is one that runs go by: their own, or one that a pipeline file names.
func names(of, own guard.Settings, file pipeline.File) bool {
	return of.File() == own.File() || slices.Contains(file.Files("windows"), of.Windows)
}

// schedule are the windows of a commit, or why they cannot be read. The error is of reading the repository.
func schedule(of guard.Settings, at gitops.Snapshot) (schedule windows.Schedule, unread, err error) {
	schedule, _, err = of.Schedule(at)
	if freeze, is := errors.AsType[*guard.FreezeError](err); is {
		return schedule, freeze.Err, nil
	}
	return schedule, nil, err
}

// broken tells whether a file that runs go by can be read no more. A run refuses it also for what stands
// beside its name, such as one of another ending.
func broken(before, after error) bool { return after != nil && before == nil }

// misnamed finds environments in the head's windows that nothing is called.
func (p Proposal) misnamed(file string, is windows.Schedule) []event.Finding {
	return check.Proposed(check.Facts{Windows: check.Windows{File: file, Named: is.Environments()}, Pipeline: check.Pipeline{File: p.is.File}, Tree: p.head.Tree}, p.settings.Skip...)
}

// changes tells whether a file is another one at the head.
func (p Proposal) changes(file string) bool {
	was, errWas := fs.ReadFile(p.base.Tree, file)
	is, errIs := fs.ReadFile(p.head.Tree, file)
	return (errWas == nil) != (errIs == nil) || !bytes.Equal(was, is)
}

// Pipeline says what the head changes of the pipeline file, and what is wrong with it or with what it names then. Of one
// that stays as it is, that is what is wrong since.
func (p Proposal) Pipeline() FileChange {
	change := FileChange{File: pipeline.Name, Findings: p.wrong(p.is, p.head)}
	if !p.changes(pipeline.Name) && !broken(p.was.Unreadable, p.is.Unreadable) {
		known := p.wrong(p.was, p.base)
		change.Findings = slices.DeleteFunc(change.Findings, func(f event.Finding) bool { return slices.Contains(known, f) })
		if len(change.Findings) == 0 {
			return FileChange{}
		}
	}
	if p.is.Unreadable == nil {
		change.Removed, change.Added = pipeline.Compare(p.was.File, p.is.File)
	}
	return change
}

// wrong is what is wrong with the pipeline file of a commit.
func (p Proposal) wrong(with check.Pipeline, at gitops.Snapshot) []event.Finding {
	return check.Proposed(check.Facts{Pipeline: with, Tree: at.Tree}, p.settings.Skip...)
}
