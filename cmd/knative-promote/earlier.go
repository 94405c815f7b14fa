package main

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/pipeline"
)

// earlierLimit is how many commits before the tip are looked at for a pipeline file that serves,
// each of which is asked for.
const earlierLimit = 100

// pipelineBefore is what a rollback goes by: the tip's pipeline file, or where that is broken or
// does not have what the inputs leave to it, as one that is lost, the newest one before that
// does. What says where the rollback leads to may stand in it alone, but no Argo CD, as a merge
// may bring commits that nobody has looked at: the arguments are those of an unseen one then.
func (c call) pipelineBefore(ctx context.Context, t task.Task, arguments inputs.Arguments, tip pipeline.File, broken error) (inputs.Arguments, pipeline.File, error) {
	why := broken
	if why == nil && !finds(c.with(arguments, tip)) {
		why = fmt.Errorf("%s does not say where the service is", pipeline.Name)
	}
	if why == nil {
		return arguments, tip, nil
	}
	limited, cancel := context.WithTimeout(ctx, t.Settings.Timeout)
	defer cancel()
	at, err := t.Infra.Look(limited)
	if err != nil {
		return arguments, tip, broken
	}
	text, _ := fs.ReadFile(at.Tree, pipeline.Name) // without one it names no Argo CD
	file, from := c.newestThatServes(limited, t, arguments, at)
	if from == "" {
		return arguments, tip, broken
	}
	said := fmt.Sprintf("%v; the rollback goes by that of commit %.10s", why, from)
	if foreign := otherArgo(t.Settings, c.with(arguments, file), text, file); foreign != "" {
		arguments, said = arguments.Unseen(), said+", and asks no Argo CD, as "+foreign
	}
	c.console.Warning(console.Note{Title: "Going by an earlier pipeline file", Text: said})
	return arguments, file, nil
}

// newestThatServes is the pipeline file of a commit before a tip which says where the service
// is, and that commit; empty: there is none, or it cannot be read.
func (c call) newestThatServes(ctx context.Context, t task.Task, arguments inputs.Arguments, at gitops.Snapshot) (file pipeline.File, commit string) {
	for range earlierLimit {
		if len(at.Commit.Parents) == 0 {
			break
		}
		var err error
		if at, err = t.Infra.At(ctx, at.Commit.Parents[0]); err != nil {
			break
		}
		file, err := guard.ReadPipeline(at, inputs.FileKeys())
		if err == nil && len(file.Environments) > 0 && finds(c.with(arguments, file)) {
			return file, at.Commit.Hash
		}
	}
	return pipeline.File{}, ""
}

// otherArgo says what of an Argo CD an earlier pipeline file names that neither the inputs nor
// the text of the tip's file do, which may be broken; empty: nothing.
func otherArgo(given, with inputs.Settings, tip []byte, earlier pipeline.File) string {
	service, environment := with.Target.Service, with.Target.Environment
	says := earlier.Rules(service, environment).Settings
	for _, place := range []struct{ input, given string }{{"argocd-server", given.Argo.Server}, {"argocd-root-path", given.Argo.RootPath}} {
		said := says[place.input].Text
		if place.given == "" && said != "" && said != pipeline.Given(tip, service, environment, place.input) {
			return fmt.Sprintf("that alone says %s: %s; set the input where that is right", place.input, said)
		}
	}
	return ""
}

// with are the settings of the arguments and a pipeline file, as far as they are right.
func (c call) with(arguments inputs.Arguments, file pipeline.File) inputs.Settings {
	s, _ := inputs.Read(arguments, c.getenv, c.workflow, file)
	return s
}

// finds tells whether the settings say where the service is.
func finds(s inputs.Settings) bool { return s.Target.Overlay != "" && s.Target.App.Name != "" }
