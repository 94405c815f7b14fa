package proposed

import (
	"context"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/proposal"
)

// renderer is an Argo CD that renders commits.
type renderer interface {
	Manifests(ctx context.Context, app *v1alpha1.Application, source argo.Source, commit string) ([]unstructured.Unstructured, error)
}

// argoCD is asked how it renders what a pull request changes, so that what is shown is what becomes live.
type argoCD struct {
	renderer   renderer
	apps       []v1alpha1.Application
	source     argo.Source     // of each overlay, but for its path
	skip       []string        // rules that are not asked
	base, head gitops.Snapshot // the branch, and what is checked out: commits that Argo CD can fetch, as it can no merge that is made here
}

// askArgoCD is the Argo CD that the workflow names; nil: none, or it is not asked, as of what a fork
// proposes: anybody could have it render.
func askArgoCD(ctx context.Context, t task.Task, pull proposal.Pull) (*argoCD, error) {
	if t.Settings.Argo.Server == "" {
		return nil, nil
	}
	if w := t.Workflow; w.OfFork || w.Unread != "" {
		t.Console.Warning(console.Note{Title: "Argo CD is not asked", Text: "What a fork proposes, or may propose, is not given to Argo CD: by its own version of kustomize it may render something else than is shown here."})
		return nil, nil
	}
	client, err := t.ArgoCD(t.Settings.Argo)
	if err != nil {
		return nil, err
	}
	apps, err := client.AllApplications(ctx)
	return &argoCD{
		renderer: client, apps: apps, source: t.Settings.Target.Source, skip: t.Settings.Promote.Skip, base: pull.Base, head: pull.Head,
	}, err
}

// deploys tells whether an Application deploys a folder.
func (a *argoCD) deploys(folder string) bool { return a != nil && len(a.deploying(folder)) > 0 }

func (a *argoCD) deploying(folder string) []*v1alpha1.Application {
	source := a.source
	source.Path = folder
	return argo.Deploying(a.apps, source)
}

// otherwise is what Argo CD renders otherwise of a folder since the base, in each Application that deploys it.
func (a *argoCD) otherwise(ctx context.Context, folder string) (all []event.Finding, err error) {
	if a == nil {
		return nil, nil
	}
	facts := check.Facts{
		Request: check.Request{Target: argo.Target{Source: a.source}, Overlay: folder},
		Commit:  a.head.Commit.Hash, Before: &knative.State{}, Unrendered: check.ErrNoApplication,
	}
	apps := a.deploying(folder)
	if len(apps) == 0 {
		return check.Otherwise(facts, a.skip...), nil
	}
	for _, app := range apps {
		facts.Request.App = argo.AppOf(app)
		if facts.Otherwise, facts.Unrendered, err = a.since(ctx, app, folder); err != nil {
			return nil, err
		}
		all = append(all, check.Otherwise(facts, a.skip...)...)
	}
	return all, nil
}

// since is what is rendered otherwise at the head and, where anything is, was not at the base. The first error is why
// Argo CD does not render the head.
func (a *argoCD) since(ctx context.Context, app *v1alpha1.Application, folder string) (lines []string, unrendered, err error) {
	is, unrendered, err := a.both(ctx, app, folder, a.head)
	if unrendered != nil || err != nil {
		return nil, unrendered, err
	}
	if lines = knative.OtherwiseSince(knative.Both{}, is); len(lines) == 0 {
		return nil, nil, nil
	}
	was, unrendered, err := a.both(ctx, app, folder, a.base)
	if unrendered != nil || err != nil { // new, or broken before: everything in it is new
		return lines, nil, ctx.Err()
	}
	return knative.OtherwiseSince(was, is), nil, nil
}

// both renders a folder of a commit, and has Argo CD render it.
func (a *argoCD) both(ctx context.Context, app *v1alpha1.Application, folder string, at gitops.Snapshot) (both knative.Both, unrendered, err error) {
	manifest, _, err := knative.Render(ctx, at.Tree, folder)
	if err != nil {
		return both, nil, err
	}
	state, err := knative.Rendered(ctx, at.Tree, folder, manifest, "")
	if err != nil {
		return both, nil, err
	}
	source := a.source
	source.Path, both.Ours = folder, state.Objects()
	both.Others, unrendered = a.renderer.Manifests(ctx, app, source, at.Commit.Hash)
	return both, unrendered, ctx.Err()
}
