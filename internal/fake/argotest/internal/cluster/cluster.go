// Package cluster is a model of a Kubernetes cluster that runs Knative Serving, as far as a
// GitOps tool can see it: an API server that applies objects as kubectl does and asks Knative's
// own admission, Knative's controllers with the status that they write on the way, revisions that
// become ready or do not by a rule in their image's name, and an HTTP data path that splits
// requests as the routes are programmed.
//
// The controllers see the objects as they were one step ago and write the next step, so every
// object passes through the intermediate states of the real one: observedGeneration trails
// generation, and a Service knows of its Route's state only after the Route does.
//
// An image's reference decides how a revision behaves:
//
//	…broken…   never becomes ready: ImagePullBackOff, later ProgressDeadlineExceeded
//	…slowNN…   becomes ready after NN seconds
//	…crashNN…  becomes ready and fails NN seconds later
//	…http500…  answers every request with 500
//	…failNN…   answers NN of a hundred requests with 500
//	…lagNN…    answers after NN milliseconds
package cluster

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// Config says how fast the model is and how long it waits.
type Config struct {
	// Clock is the model's time; all durations here are measured by it.
	Clock Clock
	// Lag is the time between two steps of the controllers. The real ones take 20 to 100 ms.
	Lag time.Duration
	// PullBackOff is how long a broken image stays unknown before its revision fails with
	// ImagePullBackOff.
	PullBackOff time.Duration
	// ProgressDeadline is how long it takes until a broken revision is given up.
	ProgressDeadline time.Duration
	// Domain is the domain of the routes' hosts.
	Domain string
}

// Cluster is a model cluster. Make one with New and start its controllers with Run.
type Cluster struct {
	config Config

	mu      sync.Mutex
	held    bool
	objects objects
	before  objects // as they were before the last step
	moved   bool    // something did in the last step
	version int64
	dirty   chan struct{} // wakes the controllers
	changed chan struct{} // closed and replaced at every change
	pick    *rand.Rand    // where in the split a request falls
	samples map[string][]int
	refused map[string]bool     // images, by a policy
	limits  corev1.ResourceList // of containers without any, by a policy; nil: there is none
	hooks   map[string]HookEnd  // by image
	seen    map[key]history     // revisions, also those that are gone
}

// New returns an empty cluster. Nothing in it moves before Run.
func New(config Config) *Cluster {
	return &Cluster{
		config:  config,
		objects: newObjects(),
		before:  newObjects(),
		dirty:   make(chan struct{}, 1),
		changed: make(chan struct{}),
		pick:    rand.New(rand.NewPCG(1, 2)),
		samples: map[string][]int{},
		refused: map[string]bool{},
		hooks:   map[string]HookEnd{},
		seen:    map[key]history{},
	}
}

// Run runs the controllers until ctx ends.
func (c *Cluster) Run(ctx context.Context) {
	for ctx.Err() == nil {
		var timer <-chan time.Time
		if d, ok := c.nextEvent(); ok {
			timer = c.config.Clock.After(d)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.dirty:
		case <-timer:
		}
		if c.config.Clock.Sleep(ctx, c.config.Lag) != nil {
			return
		}
		c.step(ctx)
	}
}

// step runs every controller once on what it saw a step ago.
func (c *Cluster) step(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held {
		return
	}
	seen := c.objects.clone()
	r := reconciler{config: c.config, seen: seen, tracked: c.before, now: c.config.Clock.Now(), write: &c.objects, next: c.nextVersion}
	moved := r.run(ctx)
	c.remember()
	c.before = seen
	if moved || c.moved { // a Route hears of what has moved a step later
		c.touch()
	}
	c.moved = moved
}

func (c *Cluster) nextVersion() int64 {
	c.version++
	return c.version
}

// Hold stops the controllers, so that what is applied stays unseen, until release is called.
func (c *Cluster) Hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.held = false
		c.touch()
	}
}

// touch tells the controllers and the watchers that something changed; c.mu is held.
func (c *Cluster) touch() {
	close(c.changed)
	c.changed = make(chan struct{})
	select {
	case c.dirty <- struct{}{}:
	default:
	}
}

// Changed returns a channel that is closed at the next change of any object.
func (c *Cluster) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// Get returns a copy of an object, or nil when there is none.
func (c *Cluster) Get(ref Ref) *unstructured.Unstructured {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects.get(ref)
}

// Root returns the object that owns obj, or its owner, and has no owner itself: what a GitOps tool
// applied.
func (c *Cluster) Root(obj *unstructured.Unstructured) *unstructured.Unstructured {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		owner := metav1.GetControllerOf(obj)
		if owner == nil {
			return obj
		}
		group, _, _ := strings.Cut(owner.APIVersion, "/")
		above := c.objects.get(Ref{Group: group, Kind: owner.Kind, Namespace: obj.GetNamespace(), Name: owner.Name})
		if above == nil {
			return obj
		}
		obj = above
	}
}

// List returns copies of all objects, in no order.
func (c *Cluster) List() []*unstructured.Unstructured {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects.list()
}

// Delete removes an object and what it owns, and reports whether it was there.
func (c *Cluster) Delete(ref Ref) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.objects.delete(ref) {
		return false
	}
	c.touch()
	return true
}

// Service returns a copy of a Service, or nil when there is none.
func (c *Cluster) Service(namespace, name string) *servingv1.Service {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects.services[key{namespace, name}].DeepCopy()
}

// Revision returns a copy of a Revision, or nil when there is none.
func (c *Cluster) Revision(namespace, name string) *servingv1.Revision {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects.revisions[key{namespace, name}].DeepCopy()
}

// Routing returns what the data path of a Service does now, which is not always what its status
// says: a Route's status is written before the ingress is programmed.
func (c *Cluster) Routing(namespace, name string) []servingv1.TrafficTarget {
	c.mu.Lock()
	defer c.mu.Unlock()
	ingress := c.objects.ingresses[key{namespace, name}]
	if ingress == nil {
		return nil
	}
	return cloneTraffic(ingress.programmed)
}
