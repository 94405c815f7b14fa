package check

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/pipeline"
)

// pipelineLink is where the pipeline file is explained.
const pipelineLink = "https://github.com/acme/knative-promote/blob/main/docs/environments.md"

// pipelineRules are about the pipeline file, all of it.
func pipelineRules() []Rule {
	return []Rule{
		{
			ID: "pipeline-unreadable", Severity: event.SeverityError, Find: findPipelineUnreadable, Link: pipelineLink,
			Summary: "`knative-promote.yaml` cannot be read",
		},
		{
			ID: "pipeline-overlay-missing", Severity: event.SeverityWarning, Find: findPipelineMissing, Link: pipelineLink,
			Summary: "`knative-promote.yaml` names overlays that are not there",
		},
	}
}

// Pipeline is the pipeline file of the infra repository. The zero Pipeline is of a
// repository that has none.
type Pipeline struct {
	File       pipeline.File
	Unreadable error // why it cannot be read
}

func findPipelineUnreadable(f Facts) []event.Finding {
	if f.Pipeline.Unreadable == nil {
		return nil
	}
	return []event.Finding{unreadableFile(pipeline.Name, f.Pipeline.Unreadable)}
}

// findPipelineMissing looks for the overlays of the target, and for one of each
// environment and each exception.
func findPipelineMissing(f Facts) []event.Finding {
	file := f.Pipeline.File
	if f.Tree == nil {
		return nil
	}
	var found []event.Finding
	for _, environment := range file.Environments {
		if !anywhere(f.Tree, file, environment) {
			found = append(found, missing(file.Line(environment), fmt.Sprintf("No Service has an overlay in the environment %s", environment), file.Path("*", environment)))
			continue
		}
		exceptions := file.Exceptions(environment)
		for _, service := range slices.Sorted(maps.Keys(exceptions)) {
			if overlay := file.Path(service, environment); !there(f.Tree, overlay) {
				found = append(found, missing(exceptions[service], fmt.Sprintf("%s has an exception for %s, which has no overlay in %s", pipeline.Name, service, environment), overlay))
			}
		}
	}
	rules := file.Of(f.Request.Overlay, f.Request.Service)
	for _, from := range rules.Sources() {
		if _, elsewhere := rules.Settings["from-branch"]; elsewhere || there(f.Tree, from) {
			continue
		}
		finding := missing(rules.Settings["from"].Line, fmt.Sprintf("%s takes its images from an overlay that is not there", f.Request.Overlay), from)
		finding.Severity, finding.Effect = event.SeverityError, "No promotion of it begins."
		found = append(found, finding)
	}
	return found
}

func missing(line int, problem, overlay string) event.Finding {
	return event.Finding{
		File: pipeline.Name, Line: line, Problem: problem,
		Effect:   "What the file says there is about nothing, as where a name is written wrong.",
		Evidence: "there is no folder " + overlay,
		Fix:      "Correct the path, or the name, or take it out of the file.",
	}
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
