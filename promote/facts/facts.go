// Package facts gathers what the rules of the check judge: of the overlay, of the infra
// repository's files, and what Argo CD, the Git server, the forge and a Prometheus answer.
// It judges nothing itself, and changes nothing.
package facts

import (
	"cmp"
	"context"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/overlay"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/review"
)

// Systems are those that are asked beside the live Service; nil: that one is not asked.
type Systems struct {
	Setup       SetupReader
	Renderer    Renderer
	Git         GitServer
	BranchRules BranchRules
}

// SetupReader tells how Argo CD is set up around an Application: all of it, or in a
// few requests what can stop a promotion, and whether the token has further rights.
type SetupReader interface {
	Setup(ctx context.Context, target argo.Target, known *v1alpha1.Application, further ...argo.Right) (argo.Setup, error)
	Essentials(ctx context.Context, target argo.Target, known *v1alpha1.Application, further ...argo.Right) argo.Setup
}

// Renderer tells what Argo CD itself renders of an Application at a commit.
type Renderer interface {
	Manifests(ctx context.Context, app *v1alpha1.Application, source argo.Source, commit string) ([]unstructured.Unstructured, error)
}

// GitServer tells of the infra repository whether it takes a push, without one, and what Argo CD may
// deploy in the branch's place.
type GitServer interface {
	MayPush(context.Context) error
	Namesakes(ctx context.Context, targetRevision string) (gitops.Namesakes, error)
}

// BranchRules tells the forge's rules of the infra repository's branch.
type BranchRules interface {
	BranchRules(context.Context) (review.Rules, error)
}

// Revisions reads a revision of the cluster.
type Revisions interface {
	Revision(ctx context.Context, app argo.App, namespace, name string) (*servingv1.Revision, error)
}

// A Reader gathers the facts of one target.
type Reader struct {
	Request check.Request // what the promotion is asked to do
	Skip    []string      // rules that are not asked
	Gates   gate.Settings
	Guards  guard.Settings
	Rights  []argo.Right // that the token must have beyond those that every promotion needs

	Systems
	Overlay   overlay.Reader
	Revisions Revisions
	Metrics   metrics.Asker // nil: there is no Prometheus to ask
}

// Known is what is known before anybody is asked: what was seen of the target, and the
// overlay as the first and the last commit of the plan render it.
func (r Reader) Known(at plan.Situation, planned []*knative.State) check.Facts {
	request := r.Request
	request.CandidateTag, request.Shifts, request.Now = at.Tag, at.Live != nil, time.Now()
	return check.Facts{
		Request: request,
		Commit:  at.Tip.Hash, Tree: at.Tree, Overlay: at.Now, Next: at.Next, Planned: planned, Service: at.Live,
		Unread: map[string]error{},
	}
}

// Planned is Known with what the policies say of the planned commits. Nobody is asked.
// The error is bad input.
func (r Reader) Planned(ctx context.Context, at plan.Situation, planned []*knative.State) (check.Facts, error) {
	facts := r.Known(at, planned)
	var err error
	facts.Policies, err = r.judged(ctx, at, planned)
	return facts, err
}

// PreflightTime is how long a promotion waits for what it can do without.
const PreflightTime = 10 * time.Second

// Preflight is what can stop a promotion, in a few requests. The error is bad input, or
// that the context has ended; what cannot be read is no error.
func (r Reader) Preflight(ctx context.Context, at plan.Situation, planned []*knative.State) (check.Facts, error) {
	facts, err := r.Planned(ctx, at, planned)
	if err != nil {
		return facts, err
	}
	facts.Reads, facts.Outside, _ = kustomize.Reads(ctx, at.Tree, r.Request.Overlay) // it has been rendered before
	asked, stop := context.WithTimeout(ctx, PreflightTime)
	defer stop()
	r.gather(asked, &facts, at, func() (argo.Setup, error) {
		return r.Setup.Essentials(asked, r.Request.Target, at.App, r.Rights...), nil
	})
	return facts, ctx.Err()
}

// All are all facts that there are. The error is bad input; what cannot be read is a fact.
func (r Reader) All(ctx context.Context, at plan.Situation, planned []*knative.State) (check.Facts, error) {
	facts, err := r.Planned(ctx, at, planned)
	if err != nil {
		return facts, err
	}
	if facts.ImageEffects, err = knative.ImageEffects(ctx, at.Now); err != nil {
		facts.Unread["what setting the image does"] = err
	}
	if facts.Reads, facts.Outside, err = kustomize.Reads(ctx, at.Tree, r.Request.Overlay); err != nil {
		facts.Unread["which files the overlay reads"] = err
	}
	if facts.Windows, err = r.windows(at.Snapshot()); err != nil {
		return facts, err
	}
	if facts.Pipeline, err = PipelineOf(at.Snapshot(), r.Guards.Keys); err != nil {
		return facts, err
	}
	if facts.Pipeline.Unread = check.Unreadable(ctx, at.Tree, facts.Pipeline.File); ctx.Err() != nil {
		return facts, ctx.Err()
	}
	r.gather(ctx, &facts, at, func() (argo.Setup, error) {
		return r.Setup.Setup(ctx, r.Request.Target, at.App, r.Rights...)
	})
	return facts, nil
}

// namespaceOf is where the Application puts objects that name none.
func namespaceOf(at plan.Situation) string {
	if at.App != nil {
		return cmp.Or(at.App.Spec.Destination.Namespace, live.NamespaceOf(at.Live))
	}
	return live.NamespaceOf(at.Live)
}
