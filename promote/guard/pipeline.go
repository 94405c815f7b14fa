package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/pipeline"
)

// A PipelineError is a commit of a promotion that was not made, because the pipeline
// file at the tip wants more than the run keeps. When the run began it did not, or
// the run would not have begun.
type PipelineError struct {
	Environment string
	Looser      []pipeline.Looser
	Approval    int    // line that wants an approval; 0: none does, or there is one
	Unapproved  bool   // nobody has approved of the run, whatever the file said when it began
	Unknown     string // why nobody can tell whether somebody has; empty: it is known
	Err         error  // why the file cannot be read, or not gone by, which permits nothing; nil: it can
	Asked       bool   // whether an override was asked for
	Permitted   bool   // whether the file permits it
}

// Error says what the file wants, and what to do.
func (e *PipelineError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v; nothing gets more traffic until this is corrected in the infra repository", pipeline.Name, e.Err)
	}
	now, fix := " now", "start the run again, which then goes by the file"
	switch {
	case e.Unapproved:
		now, fix = "", fmt.Sprintf("promote it in a job with the GitHub environment %s, which has reviewers", e.Environment)
	case e.Unknown != "":
		now, fix = "", "have it tell that, or let the file say approval: if-known"
	}
	text := fmt.Sprintf("%s wants more for %s%s than this run keeps: %s: %s", pipeline.Name, e.Environment, now, strings.Join(e.wants(), "; "), fix)
	switch {
	case e.Asked && !e.Permitted:
		text += fmt.Sprintf("; override: guards is not permitted: %s does not say override: true", e.Environment)
	case e.Permitted:
		text += ", or with override: guards and a reason"
	}
	return text
}

// Unwrap gives the cause; nil where the file can be read.
func (e *PipelineError) Unwrap() error { return e.Err }

// wants are the guards that the run does not keep.
func (e *PipelineError) wants() []string {
	var all []string
	for _, l := range e.Looser {
		given := "nothing"
		if l.Given != "" {
			given = fmt.Sprintf("%q", l.Given)
		}
		all = append(all, fmt.Sprintf("%s is %s, and line %d wants %s", l.Input, given, l.Line, l.Expected()))
	}
	switch {
	case e.Unapproved:
		all = append(all, fmt.Sprintf("line %d wants an approval, and nobody has approved of %s in this workflow run", e.Approval, e.Environment))
	case e.Unknown != "":
		all = append(all, fmt.Sprintf("line %d wants an approval, and whether somebody has approved of %s is not known: %s", e.Approval, e.Environment, e.Unknown))
	case e.Approval > 0:
		all = append(all, fmt.Sprintf("line %d wants an approval", e.Approval))
	}
	return all
}

// IsUnmet tells of a pipeline file that can be read, and wants more.
func IsUnmet(err error) bool {
	wants, is := errors.AsType[*PipelineError](err)
	return is && wants.Err == nil
}

// ReadPipeline reads the pipeline file of a commit. Without one there are no
// environments. A *PipelineError says that it cannot be understood.
func ReadPipeline(at gitops.Snapshot, keys pipeline.Keys) (pipeline.File, error) {
	text, err := fs.ReadFile(at.Tree, pipeline.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := meant(at.Tree, pipeline.Name); err != nil {
			return pipeline.File{}, &PipelineError{Err: err}
		}
		return pipeline.File{}, nil
	case err != nil && isFolder(at.Tree, pipeline.Name):
		return pipeline.File{}, &PipelineError{Err: fmt.Errorf("expected a file: %w", err)}
	case err != nil:
		return pipeline.File{}, fmt.Errorf("reading the pipeline file: %w", err)
	}
	file, err := pipeline.Parse(text, keys)
	if err != nil {
		return file, &PipelineError{Err: err}
	}
	return file, nil
}

// keeps is nil where the run keeps what the pipeline file at a tip wants of a promotion
// of the target, and else a *PipelineError.
func (s Settings) keeps(tip gitops.Snapshot, t Target) error {
	if s.Given == nil {
		return nil
	}
	file, err := ReadPipeline(tip, s.Keys)
	if err != nil {
		return err
	}
	rules, err := file.Of(t.Overlay, t.Service)
	if err == nil {
		err = file.Apart(t.Overlay, t.Service, func(overlay string) []string { return kustomize.Below(tip.Tree, overlay) })
	}
	if err != nil {
		return &PipelineError{Err: err}
	}
	e := &PipelineError{
		Environment: rules.Environment, Looser: rules.Looser(s.Given),
		Asked: s.PassesOver(OverridePipeline), Permitted: rules.Override,
	}
	if unknown := s.Unknown != "" && !rules.IfKnown; rules.Approval > 0 && (s.Unasked || s.Unapproved || unknown) {
		e.Approval, e.Unapproved, e.Unknown = rules.Approval, s.Unapproved, s.Unknown
	}
	if len(e.Looser) == 0 && e.Approval == 0 {
		return nil
	}
	return e
}
