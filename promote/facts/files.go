package facts

import (
	"errors"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/pipeline"
)

// windows are the windows of a commit. A file that is named and does not exist is an error.
func (r Reader) windows(at gitops.Snapshot) (check.Windows, error) {
	schedule, exists, err := r.Guards.Schedule(at)
	freeze, is := errors.AsType[*guard.FreezeError](err)
	switch {
	case err == nil && !exists:
		return check.Windows{}, nil
	case err == nil:
		environment := r.Guards.Environment(at, guard.Target{Environment: r.Request.Environment, Overlay: r.Request.Source.Path, Service: r.Request.Service})
		return check.Windows{File: r.Guards.File(), State: schedule.At(time.Now(), r.Request.Service, environment), Named: schedule.Environments()}, nil
	case is && exists:
		return check.Windows{File: r.Guards.File(), Unreadable: freeze.Err}, nil
	}
	return check.Windows{}, err
}

// PipelineOf is the pipeline file of a commit, of which the files that it names are not read. The error is that its tree cannot be
// read.
func PipelineOf(at gitops.Snapshot, keys pipeline.Keys) (check.Pipeline, error) {
	file, err := guard.ReadPipeline(at, keys)
	if wrong, unreadable := errors.AsType[*guard.PipelineError](err); unreadable {
		return check.Pipeline{Unreadable: wrong.Err}, nil
	}
	return check.Pipeline{File: file}, err
}
