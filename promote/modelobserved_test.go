package promote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/apis"
	"knative.dev/serving/pkg/apis/serving"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
)

// observed is what Argo CD shows of the cluster for an intent.
func (c *clusterModel) observed(in argo.Intent) argo.Observed {
	seen := argo.Observed{App: c.application(), Service: c.live(), Revision: c.revision(in.Revision)}
	if in.Revision == "" {
		seen.Revision = c.revision(c.created)
	}
	return seen
}

func (c *clusterModel) application() *v1alpha1.Application {
	now := metav1.NewTime(time.Now())
	app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
	app.Spec.Source = &v1alpha1.ApplicationSource{RepoURL: infraURL, Path: "web", TargetRevision: "main"}
	app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{Automated: &v1alpha1.SyncPolicyAutomated{SelfHeal: true}}
	status := v1alpha1.SyncStatusCodeSynced
	if c.manual {
		app.Spec.SyncPolicy = nil
	}
	if c.synced != c.wanted {
		status = v1alpha1.SyncStatusCodeOutOfSync
	}
	app.Status.Sync = v1alpha1.SyncStatus{Status: status, Revision: c.wanted}
	app.Status.ReconciledAt = &now
	app.Status.OperationState = &v1alpha1.OperationState{
		Phase: common.OperationSucceeded, StartedAt: now, FinishedAt: &now,
		Operation:  v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Revision: c.synced}},
		SyncResult: &v1alpha1.SyncOperationResult{Revision: c.synced, Source: *app.Spec.Source},
	}
	for _, commit := range c.deployed {
		app.Status.History = append(app.Status.History, v1alpha1.RevisionHistory{Revision: commit})
	}
	if c.service != nil {
		app.Status.Resources = []v1alpha1.ResourceStatus{{Group: serving.GroupName, Version: "v1", Kind: "Service", Namespace: "shop", Name: "web", Status: status}}
	}
	return app
}

// infraURL is where the Application takes the infra repository from.
const infraURL = "https://example.com/infra.git"

// live is the Service with Knative's status; nil: there is none.
func (c *clusterModel) live() *servingv1.Service {
	if c.service == nil {
		return nil
	}
	live := c.service.DeepCopy()
	live.ObjectMeta = meta("web")
	status := &live.Status
	status.InitializeConditions()
	status.ObservedGeneration = live.Generation
	status.LatestCreatedRevisionName, status.LatestReadyRevisionName = c.created, c.ready
	status.Traffic = c.routed
	set := live.GetConditionSet().Manage(status)
	mark := func(condition apis.ConditionType, why string) {
		set.MarkTrue(condition)
		if why != "" {
			set.MarkFalse(condition, "RevisionMissing", "%s", why)
		}
	}
	why := c.taken()
	if why == "" {
		why = c.revisions[c.created].why
	}
	mark(servingv1.ServiceConditionConfigurationsReady, why)
	why = ""
	if c.refused != nil {
		why = c.refused.Error()
	}
	mark(servingv1.ServiceConditionRoutesReady, why)
	return live
}

// revision is one in the cluster; nil: there is none of that name.
func (c *clusterModel) revision(name string) *servingv1.Revision {
	have := c.revisions[name]
	if have == nil {
		return nil
	}
	found := &servingv1.Revision{ObjectMeta: meta(name), Spec: *have.template.Spec.DeepCopy()}
	found.Labels = map[string]string{serving.ServiceLabelKey: "web", serving.ConfigurationLabelKey: "web"}
	found.Status.InitializeConditions()
	found.Status.ObservedGeneration = found.Generation
	found.Status.MarkResourcesAvailableTrue()
	found.Status.MarkContainerHealthyTrue()
	if have.why != "" {
		found.Status.MarkContainerHealthyFalse(have.why, have.why)
	}
	return found
}

// relate tells how the compared commit relates to the intent's.
func relate(ctx context.Context, in argo.Intent, compared string) (argo.Relation, error) {
	if compared == in.Commit {
		return argo.Same, nil
	}
	switch carries, err := in.Carries(ctx, compared); {
	case errors.Is(err, argo.ErrBehind):
		return argo.Behind, nil
	case err != nil:
		return argo.Unknown, err
	case carries:
		return argo.Carrying, nil
	}
	return argo.Displaced, nil
}

// look is the Service as Argo CD shows it, where there is one.
func (c *clusterModel) look() (argo.Observed, error) {
	seen := c.observed(argo.Intent{})
	if seen.Service == nil {
		return argo.Observed{App: seen.App}, argo.ErrNotFound
	}
	return seen, nil
}

// found is a revision, where it is there.
func (c *clusterModel) found(name string) (*servingv1.Revision, error) {
	if revision := c.revision(name); revision != nil {
		return revision, nil
	}
	return nil, argo.ErrNotFound
}

// endedBy tells whether a verdict ends the waiting for a commit, and how.
func endedBy(verdict argo.Verdict) (over bool, err error) {
	switch verdict.State {
	case argo.Live:
		return true, nil
	case argo.Failed:
		return true, &argo.FailedError{Reason: verdict.Reason}
	case argo.Superseded:
		return true, fmt.Errorf("%w: %s", argo.ErrSuperseded, verdict.Reason)
	}
	return false, nil
}

// A bareSetup is an Argo CD that shows the preflight nothing but the Application as the
// run has just seen it.
type bareSetup struct{}

// Essentials is what the preflight asks for.
func (bareSetup) Essentials(_ context.Context, _ argo.Target, known *v1alpha1.Application, _ ...argo.Right) argo.Setup {
	return argo.Setup{App: known}
}

// Setup is what a check asks for, which nobody does here.
func (s bareSetup) Setup(ctx context.Context, target argo.Target, known *v1alpha1.Application, more ...argo.Right) (argo.Setup, error) {
	return s.Essentials(ctx, target, known, more...), nil
}

func (m *model) Revision(ctx context.Context, _ argo.App, _, name string) (*servingv1.Revision, error) {
	ctx, leave := m.enter(ctx)
	defer leave()
	if err := m.fails(ctx, "asking for a revision"); err != nil {
		m.unsure = true
		return nil, err
	}
	m.sync(ctx)
	found, err := m.cluster.found(name)
	m.told[name] = m.told[name] || err != nil || !found.IsReady()
	return found, err
}
