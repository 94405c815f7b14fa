//go:build cluster

package scenario

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// Heard is an answer of the data path, and when it was asked for and came.
type heard struct {
	answer
	began, ended time.Time
}

// A listener asks a host again and again, as users do who know of nothing.
type listener struct {
	s    *site
	stop context.CancelFunc
	done chan struct{}
	all  []heard
	err  error
}

// listen asks a host until the listener is ended, with a pause between.
func (s *site) listen(host string, pause time.Duration) *listener {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.Context()))
	l := &listener{s: s, stop: stop, done: make(chan struct{})}
	s.Cleanup(stop)
	go func() {
		defer close(l.done)
		for ctx.Err() == nil && l.err == nil {
			h := heard{began: time.Now()}
			h.answer, l.err = request(context.WithoutCancel(ctx), host)
			h.ended = time.Now()
			l.all = append(l.all, h)
			time.Sleep(pause)
		}
	}()
	return l
}

// end ends the asking and gives all answers, the oldest first.
func (l *listener) end() []heard {
	l.s.Helper()
	l.stop()
	<-l.done
	l.s.must(l.err)
	return l.all
}

// A sight is a state of the Service, and when Kubernetes told of it.
type sight struct {
	*servingv1.Service
	at time.Time
}

// A watcher sees every state of the Service that Kubernetes tells of.
type watcher struct {
	sync.Mutex
	sights []sight
}

// watch watches the Service until the scenario ends.
func (s *site) watch() *watcher {
	s.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(s.Context()))
	s.Cleanup(stop)
	w := &watcher{}
	stream, err := kube.Resource(services).Namespace(s.Namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + s.Service})
	s.must(err)
	go func() {
		for event := range stream.ResultChan() {
			object, ok := event.Object.(*unstructured.Unstructured)
			seen := sight{&servingv1.Service{}, time.Now()}
			if !ok || runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, seen.Service) != nil {
				continue
			}
			w.Lock()
			w.sights = append(w.sights, seen)
			w.Unlock()
		}
	}()
	return w
}

// first is when the watcher first saw a state, if it did.
func (w *watcher) first(is func(*servingv1.Service) bool) (time.Time, bool) {
	w.Lock()
	defer w.Unlock()
	i := slices.IndexFunc(w.sights, func(s sight) bool { return is(s.Service) })
	if i < 0 {
		return time.Time{}, false
	}
	return w.sights[i].at, true
}

// routes tells whether the Service is ready, at its generation, with this
// revision as its template and this share of the traffic, and its status agrees.
func routes(service *servingv1.Service, revision string, percent int64) bool {
	return service.Status.ObservedGeneration == service.Generation && service.IsReady() &&
		service.Spec.Template.Name == revision && service.Status.LatestReadyRevisionName == revision &&
		share(service.Spec.Traffic, revision) == percent && share(service.Status.Traffic, revision) == percent
}

// share is a revision's part of the traffic in percent, or -1 where it is not named.
func share(traffic []servingv1.TrafficTarget, revision string) int64 {
	sum := int64(-1)
	for _, t := range traffic {
		if t.RevisionName == revision {
			sum = max(sum, 0)
			if t.Percent != nil {
				sum += *t.Percent
			}
		}
	}
	return sum
}

// tip reads the branch's tip, and when it was pushed, without asking git.
func (s *site) tip() (commit string, pushed time.Time) {
	file := filepath.Join(s.Dir, "refs/heads/main")
	info, err := os.Stat(file)
	if err != nil { // between two files of that name
		return "", time.Time{}
	}
	content, _ := os.ReadFile(file)
	return strings.TrimSpace(string(content)), info.ModTime()
}

// moves waits until the branch's tip is none of these commits.
func (s *site) moves(ctx context.Context, from ...string) (commit string, pushed time.Time) {
	for ctx.Err() == nil {
		if commit, pushed = s.tip(); commit != "" && !slices.Contains(from, commit) {
			return commit, pushed
		}
		time.Sleep(5 * time.Millisecond)
	}
	return "", time.Time{}
}
