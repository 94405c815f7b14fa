package argotest

import (
	"context"
	"sync"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

// level is how thorough a comparison is, by the names and numbers of Argo CD's controller.
type level int

const (
	nothing           level = iota
	withRecent              // what changed live, against the commit of the last comparison
	withLatest              // against the branch's tip
	withForcedResolve       // against the branch's tip, asked of Git now
)

// controller is Argo CD's application controller for one Application. Comparing and syncing are two
// goroutines that know of each other only through the Application, as they are two queues there.
type controller struct {
	app      *stored
	cluster  *cluster.Cluster
	clock    cluster.Clock
	config   Config
	projects *projects

	mu        sync.Mutex
	requested level
	wake      chan struct{}
	delayed   <-chan time.Time // only refresh's goroutine uses it

	// storing is held from the beginning of an automated operation until the status of the comparison
	// that began it is stored: Argo CD hands an operation over through a rate-limited queue, which
	// takes longer.
	storing sync.Mutex
}

func newController(app *stored, projects *projects, config Config, model *cluster.Cluster, clock cluster.Clock) *controller {
	return &controller{app: app, projects: projects, cluster: model, clock: clock, config: config, wake: make(chan struct{}, 1)}
}

// request asks for a comparison; of several the most thorough one is done.
func (c *controller) request(wanted level) {
	c.mu.Lock()
	c.requested = max(c.requested, wanted)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *controller) takeRequest() level {
	c.mu.Lock()
	defer c.mu.Unlock()
	wanted := c.requested
	c.requested = nothing
	return wanted
}

// refresh compares whenever somebody asks for it, something live changes or the poll is due.
func (c *controller) refresh(ctx context.Context) {
	events, stop := c.app.watch()
	defer stop()
	c.request(withForcedResolve)
	poll := c.clock.After(c.config.Poll)
	changed := c.cluster.Changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-events:
		case <-c.wake:
		case <-changed:
			changed = c.cluster.Changed()
			c.request(withRecent)
		case <-c.delayed:
			c.delayed = nil
			c.request(withLatest)
		case <-poll:
			poll = c.clock.After(c.config.Poll)
			c.request(withLatest)
		}
		c.reconcile(ctx)
	}
}

// reconcile does one comparison, starts an automated sync if one is due, and stores the status.
func (c *controller) reconcile(ctx context.Context) {
	before := c.app.get()
	wanted := c.takeRequest()
	if _, asked := before.IsRefreshRequested(); asked {
		wanted = withForcedResolve
	}
	if wanted == nothing {
		return
	}
	revision := before.Spec.GetSource().TargetRevision
	if wanted == withRecent {
		revision = before.Status.Sync.Revision
	}
	c.fromCache(ctx, before, revision)
	found := c.compare(ctx, before, revision)
	if wanted > withRecent && c.clock.Sleep(ctx, c.config.Compare) != nil {
		return
	}
	c.storing.Lock()
	defer c.storing.Unlock()
	conditions := found.conditions
	if failed := c.autoSync(before, found); failed != nil {
		conditions = append(conditions, *failed)
	}
	// The change cannot fail.
	_, _ = c.app.update(func(app *v1alpha1.Application) error {
		c.persist(app, before, found, conditions, wanted)
		return nil
	})
}

// fromCache lets a commit render to what is known of an earlier one, where the Application's paths
// leave it out, unless somebody has asked for a hard refresh.
func (c *controller) fromCache(ctx context.Context, app *v1alpha1.Application, revision string) {
	kind, asked := app.IsRefreshRequested()
	hard := asked && kind == v1alpha1.RefreshTypeHard
	if !hard && !pathsLeaveOut(app) {
		return
	}
	commit, err := c.app.source.resolve(ctx, revision)
	switch {
	case err != nil: // the comparison says so
	case hard:
		c.app.rendered.forget(commit)
	default:
		c.app.rendered.keep(commit, app.Status.Sync.Revision)
	}
}

// persist stores what a comparison found. The operation is not touched: the comparison began with
// an older one. The refresh annotation goes only if the comparison began after it was set.
func (c *controller) persist(app, before *v1alpha1.Application, found comparison, conditions []v1alpha1.ApplicationCondition, done level) {
	now := c.now()
	status := &app.Status
	if _, asked := before.IsRefreshRequested(); asked {
		delete(app.Annotations, v1alpha1.AnnotationKeyRefresh)
		if len(app.Annotations) == 0 {
			app.Annotations = nil
		}
	}
	setConditions(app, conditions, now, v1alpha1.ApplicationConditionComparisonError, v1alpha1.ApplicationConditionSyncError)
	if status.ReconciledAt == nil || done >= withLatest {
		status.ReconciledAt = &now
	}
	found.health.LastTransitionTime = status.Health.LastTransitionTime
	if found.health.Status != status.Health.Status {
		found.health.LastTransitionTime = &now
	}
	status.Sync, status.Health, status.Resources = found.sync, found.health, found.resources
	status.SourceType = v1alpha1.ApplicationSourceTypeKustomize
	status.ControllerNamespace = app.Namespace
}

// now is the server's time as Kubernetes stores it: by the second.
func (c *controller) now() metav1.Time { return metav1.NewTime(c.clock.Now().Truncate(time.Second)) }
