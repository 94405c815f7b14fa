package check

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/pipeline"
)

// pipelineRules are about the pipeline file, all of it.
func pipelineRules() []Rule {
	return []Rule{rule("pipeline-unreadable", findPipelineUnreadable), rule("pipeline-overlay-missing", findPipelineMissing), rule("pipeline-names-unreadable", findNamedUnreadable)}
}

// Pipeline is the pipeline file of the infra repository. The zero Pipeline is of a
// repository that has none.
type Pipeline struct {
	File       pipeline.File
	Unreadable error // why it cannot be read
	Unread     []Unread
}

func findPipelineUnreadable(f Facts) []found {
	why := f.Pipeline.Unreadable
	if _, err := f.Pipeline.File.Of(f.Request.Overlay, f.Request.Service); why == nil {
		why = err
	}
	if why == nil {
		return nil
	}
	return []found{{at: unreadable(pipeline.Name, why), values: values{"Why": why}}}
}

// findPipelineMissing looks for the overlays of the target, and for one of each
// environment and each exception.
func findPipelineMissing(f Facts) []found {
	if f.Tree == nil {
		return nil
	}
	var all []found
	file := f.Pipeline.File
	for _, environment := range file.Environments {
		if anywhere(f.Tree, file, environment) {
			all = append(all, missingExceptions(f.Tree, file, environment)...)
			continue
		}
		all = append(all, found{at: place{pipeline.Name, file.Line(environment)}, values: values{
			"Kind": "environment", "Environment": environment, "Folder": file.Path("*", environment),
		}})
	}
	rules, err := file.Of(f.Request.Overlay, f.Request.Service)
	if err != nil {
		return all // which is another finding
	}
	for _, from := range rules.Sources() {
		if _, elsewhere := rules.Settings["from-branch"]; elsewhere || there(f.Tree, from) {
			continue
		}
		all = append(all, found{severity: event.SeverityError, at: place{pipeline.Name, rules.Settings["from"].Line}, values: values{
			"Kind": "source", "Overlay": f.Request.Overlay, "Folder": from,
		}})
	}
	return all
}

// missingExceptions are the Services that the environment has an exception for, and
// that have no overlay in it.
func missingExceptions(tree fs.FS, file pipeline.File, environment string) []found {
	var all []found
	exceptions := file.Exceptions(environment)
	for _, service := range slices.Sorted(maps.Keys(exceptions)) {
		if overlay := file.Path(service, environment); !there(tree, overlay) {
			all = append(all, found{at: place{pipeline.Name, exceptions[service]}, values: values{
				"Kind": "exception", "For": service, "Environment": environment, "Folder": overlay,
			}})
		}
	}
	return all
}

// anywhere tells whether some Service has an overlay in the environment.
func anywhere(tree fs.FS, file pipeline.File, environment string) bool {
	if !file.PerService() {
		return there(tree, file.Path("", environment))
	}
	folder, of := file.Services(environment)
	entries, err := fs.ReadDir(tree, path.Clean(folder))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		service := of(e.Name())
		return service != "" && there(tree, file.Path(service, environment))
	})
}

// there tells whether a folder is not known to be missing.
func there(tree fs.FS, folder string) bool {
	_, err := fs.Stat(tree, folder)
	return !errors.Is(err, fs.ErrNotExist)
}
