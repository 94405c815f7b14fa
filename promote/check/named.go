package check

import (
	"context"
	"errors"
	"io/fs"

	"github.com/acme/knative-promote/promote/analysis/template"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/policy"
)

// An Unread is files that the pipeline file names, and that no run can read.
type Unread struct {
	Input string // that names them
	Line  int    // of the pipeline file
	Why   error
}

// Unreadable reads the files that a pipeline file names, and returns those that no run can. After the end of ctx all are.
func Unreadable(ctx context.Context, tree fs.FS, file pipeline.File) (all []Unread) {
	for _, named := range []struct {
		input string
		read  func(context.Context, fs.FS, pipeline.Setting) error
	}{{"policies", readPolicies}, {"analysis", readTemplates}} {
		for _, said := range file.Said(named.input) {
			if err := named.read(ctx, tree, said); err != nil {
				all = append(all, Unread{named.input, said.Line, err})
			}
		}
	}
	return all
}

func readPolicies(ctx context.Context, tree fs.FS, said pipeline.Setting) error {
	_, err := policy.Read(ctx, tree, said.Patterns())
	return err
}

func readTemplates(_ context.Context, tree fs.FS, said pipeline.Setting) error {
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

// findNamedUnreadable looks for files that the pipeline file names, and that no run can read.
func findNamedUnreadable(f Facts) []found {
	var all []found
	for _, u := range f.Pipeline.Unread {
		all = append(all, found{at: place{pipeline.Name, u.Line}, values: values{"Input": u.Input, "Why": u.Why}})
	}
	return all
}
