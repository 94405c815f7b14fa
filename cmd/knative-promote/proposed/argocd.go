package proposed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/proposal"
	"github.com/acme/knative-promote/promote/report"
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
	more       []string        // what would have it do more than render overlays, so that it is not asked
	behind     []string        // folders that the branch has changed since, so that their merge renders to something else
	base, head gitops.Snapshot // the branch, and what is checked out: commits that Argo CD can fetch, as it can no merge that is made here
}

// askArgoCD is the Argo CD that the workflow names; nil: none, or it is not asked, as of what a fork
// proposes: anybody could have it render.
func askArgoCD(ctx context.Context, t task.Task, pull proposal.Pull, deploys func(folder string) bool) (*argoCD, error) {
	if t.Settings.Argo.Server == "" {
		return nil, nil
	}
	if t.Workflow.MayBeOfFork() {
		t.Console.Warning(console.Note{Title: "Argo CD is not asked", Text: "What a fork proposes, or may propose, is not given to Argo CD: by its own version of kustomize it may render something else than is shown here."})
		return nil, nil
	}
	a := &argoCD{source: t.Settings.Target.Source, skip: t.Settings.Promote.Skip, base: pull.Base, head: pull.Head}
	var err error
	if a.more, err = proposal.BesideRendering(pull.Base, pull.Head); err != nil || len(a.more) > 0 {
		return a, err
	}
	if a.behind, err = behind(pull, deploys); err != nil {
		return nil, err
	}
	client, err := t.ArgoCD(t.Settings.Argo)
	if err != nil {
		return nil, err
	}
	a.renderer = client
	a.apps, err = client.AllApplications(ctx)
	return a, err
}

// behind are the folders that the merge renders from other files than what is checked out does.
func behind(pull proposal.Pull, deploys func(folder string) bool) ([]string, error) {
	differences, err := gitops.Differences(pull.Head, pull.Merged)
	if err != nil || len(differences) == 0 {
		return nil, err
	}
	touched, parts, err := kustomize.Touched(pull.Head.Tree, pull.Merged.Tree, gitops.Paths(differences), deploys)
	for _, part := range parts {
		touched = append(touched, part.Path)
	}
	return touched, err
}

// deploys tells whether an Application deploys a folder.
func (a *argoCD) deploys(folder string) bool { return a != nil && len(a.deploying(folder)) > 0 }

func (a *argoCD) deploying(folder string) []*v1alpha1.Application {
	source := a.source
	source.Path = folder
	return argo.Deploying(a.apps, source)
}

// otherwise is what Argo CD renders otherwise of an overlay since the base, in each Application that deploys it.
func (a *argoCD) otherwise(ctx context.Context, o report.Overlay) (all []event.Finding, err error) {
	if a == nil {
		return nil, nil
	}
	facts := check.Facts{
		Request: check.Request{Target: argo.Target{Source: a.source}, Overlay: o.Path},
		Commit:  a.head.Commit.Hash, Before: &knative.State{}, Unrendered: check.ErrNoApplication,
	}
	apps := a.deploying(o.Path)
	switch {
	case len(a.more) > 0:
		facts.Unrendered = fmt.Errorf("it is not asked: at that commit it would do more than that, which nobody has approved: %s", strings.Join(a.more, ", "))
	case len(apps) > 0 && slices.Contains(a.behind, o.Path):
		facts.Unrendered, apps = errors.New("it is not asked: the branch has changed the overlay since, and Argo CD knows no merge that is not pushed: merge the branch into it, or rebase it"), nil
	}
	if len(apps) == 0 {
		return check.Otherwise(facts, a.skip...), nil
	}
	for _, app := range apps {
		facts.Request.App = argo.AppOf(app)
		if facts.Otherwise, facts.Unrendered, err = a.since(ctx, app, o); err != nil {
			return nil, err
		}
		all = append(all, check.Otherwise(facts, a.skip...)...)
	}
	return all, nil
}

// since is what is rendered otherwise at the head and, where anything is, was not at the base. The first error is why
// Argo CD does not render the head, of which the overlay's files are those of the merge that is shown.
func (a *argoCD) since(ctx context.Context, app *v1alpha1.Application, o report.Overlay) (lines []string, unrendered, err error) {
	is, unrendered, err := a.both(ctx, app, o.Path, o.After, a.head)
	if unrendered != nil || err != nil {
		return nil, unrendered, err
	}
	lines = knative.OtherwiseSince(knative.Both{}, is)
	if len(lines) == 0 || o.Before == nil { // else it is new, or broken before: everything in it is new
		return lines, nil, nil
	}
	was, unrendered, err := a.both(ctx, app, o.Path, o.Before, a.base)
	if unrendered != nil || err != nil {
		return lines, nil, ctx.Err()
	}
	return knative.OtherwiseSince(was, is), nil, nil
}

// both is what is rendered of a folder of a commit, and what Argo CD renders of it.
func (a *argoCD) both(ctx context.Context, app *v1alpha1.Application, folder string, manifest []byte, at gitops.Snapshot) (both knative.Both, unrendered, err error) {
	state, err := knative.Rendered(ctx, at.Tree, folder, manifest, "")
	if err != nil {
		return both, nil, err
	}
	source := a.source
	source.Path, both.Ours, both.Namespace = folder, state.Objects(), app.Spec.Destination.Namespace
	index, err := argo.SourceIndex(app, source)
	if err != nil || argo.SourceType(app, index) != v1alpha1.ApplicationSourceTypeKustomize {
		return both, errors.New("it is not asked: it has not rendered the Application with kustomize, and a plugin may do more than that"), nil
	}
	both.Others, unrendered = a.renderer.Manifests(ctx, app, source, at.Commit.Hash)
	return both, unrendered, ctx.Err()
}
