package check

import (
	"errors"
	"io/fs"

	"github.com/acme/knative-promote/promote/analysis/template"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/policy"
)

// findNamedUnreadable looks for files that the pipeline file names, and that no run can read.
func findNamedUnreadable(f Facts) []found {
	if f.Tree == nil {
		return nil
	}
	var all []found
	for _, named := range []struct {
		input string
		read  func(fs.FS, pipeline.Setting) error
	}{{"policies", readPolicies}, {"analysis", readTemplates}} {
		for _, said := range f.Pipeline.File.Said(named.input) {
			if err := named.read(f.Tree, said); err != nil {
				all = append(all, found{at: place{pipeline.Name, said.Line}, values: values{"Input": named.input, "Why": err}})
			}
		}
	}
	return all
}

func readPolicies(tree fs.FS, said pipeline.Setting) error {
	_, err := policy.Read(tree, said.Patterns())
	return err
}

func readTemplates(tree fs.FS, said pipeline.Setting) error {
	var all []error
	for _, file := range said.Files() {
		content, err := fs.ReadFile(tree, file)
		if err != nil {
			all = append(all, err)
			continue
		}
		_, wrong := template.Parse(file, content)
		all = append(all, wrong...)
	}
	return errors.Join(all...)
}
