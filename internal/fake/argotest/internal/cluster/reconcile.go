package cluster

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
)

// reconciler is one step of all controllers: it reads seen, the informers' caches, and writes to
// write, the API server's storage.
type reconciler struct {
	config Config
	seen   objects
	// tracked is seen of a step ago. A Route hears of its targets through a tracker, which is later
	// than their owners do.
	tracked objects
	now     time.Time
	write   *objects
	next    func() int64
	moved   bool
}

// run reconciles everything once and reports whether anything changed.
func (r *reconciler) run(ctx context.Context) bool {
	for _, service := range r.seen.services {
		r.reconcileService(ctx, service.DeepCopy())
	}
	for _, configuration := range r.seen.configurations {
		r.reconcileConfiguration(ctx, configuration.DeepCopy())
	}
	for _, route := range r.seen.routes {
		r.reconcileRoute(ctx, route.DeepCopy())
	}
	for _, revision := range r.seen.revisions {
		r.reconcileRevision(revision.DeepCopy())
	}
	for k, ingress := range r.seen.ingresses {
		r.reconcileIngress(k, *ingress)
	}
	return r.moved
}

// begin is what Knative's reconcilers do before they look at a resource: a generation that is new
// to them makes Ready unknown until they have decided.
func begin(resource duckv1.KRShaped) {
	status := resource.GetStatus()
	manager := resource.GetConditionSet().Manage(status)
	manager.InitializeConditions()
	if status.ObservedGeneration != resource.GetGeneration() {
		manager.MarkUnknown(resource.GetConditionSet().GetTopLevelConditionType(),
			"NewObservedGenFailure", "unsuccessfully observed a new generation")
	}
}

// end marks the generation as observed and gives conditions that did not change their old time.
func (r *reconciler) end(resource, before duckv1.KRShaped) {
	status := resource.GetStatus()
	status.ObservedGeneration = resource.GetGeneration()
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		if old := before.GetStatus().GetCondition(condition.Type); old != nil {
			condition.LastTransitionTime = old.LastTransitionTime
			if equality.Semantic.DeepEqual(condition, old) {
				continue
			}
		}
		condition.LastTransitionTime = apis.VolatileTime{Inner: metav1.NewTime(r.now)}
	}
}

// store puts obj into the storage if it differs from before, as the API server numbers it: a
// resource version for every change, a generation for a change of the spec.
func store[T metav1.Object](r *reconciler, in map[key]T, obj, before T, specChanged bool) {
	if equality.Semantic.DeepEqual(obj, before) {
		return
	}
	if specChanged {
		obj.SetGeneration(obj.GetGeneration() + 1)
	}
	obj.SetResourceVersion(strconv.FormatInt(r.next(), 10))
	in[keyOf(obj)] = obj
	r.moved = true
}

// create stores a new object.
func create[T metav1.Object](r *reconciler, in map[key]T, obj T) {
	obj.SetUID(newUID())
	obj.SetGeneration(1)
	obj.SetCreationTimestamp(metav1.NewTime(r.now.Truncate(time.Second)))
	obj.SetResourceVersion(strconv.FormatInt(r.next(), 10))
	in[keyOf(obj)] = obj
	r.moved = true
}

func newUID() types.UID { return types.UID(uuid.NewString()) }
