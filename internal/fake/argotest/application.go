package argotest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

// watchBuffer is how many events a slow watcher may be behind before it loses some, as in the real
// server.
const watchBuffer = 1000

// versions hands out the resource versions of all Applications.
type versions struct{ last atomic.Int64 }

func (v *versions) next() string { return strconv.FormatInt(v.last.Add(1), 10) }

// stored is one Application as it is stored, and who watches it.
type stored struct {
	source   source
	rendered renders
	versions *versions

	mu       sync.Mutex
	current  *v1alpha1.Application
	watchers map[chan *v1alpha1.Application]struct{}
}

func newStored(app App, versions *versions, clock cluster.Clock) *stored {
	spec := v1alpha1.ApplicationSpec{
		Project:     app.Project,
		Source:      &v1alpha1.ApplicationSource{RepoURL: app.RepoURL, TargetRevision: app.Branch, Path: app.Path},
		Destination: v1alpha1.ApplicationDestination{Server: "https://kubernetes.default.svc", Namespace: app.DestinationNamespace},
		SyncPolicy:  &v1alpha1.SyncPolicy{SyncOptions: v1alpha1.SyncOptions{"CreateNamespace=true"}},
	}
	if app.AutoSync {
		spec.SyncPolicy.Automated = &v1alpha1.SyncPolicyAutomated{Prune: true, SelfHeal: app.SelfHeal}
	}
	return &stored{
		source:   source{gitDir: app.GitDir, branch: app.Branch, path: app.Path, namespace: app.DestinationNamespace, label: app.Name},
		versions: versions,
		current: &v1alpha1.Application{
			TypeMeta: metav1.TypeMeta{APIVersion: "argoproj.io/v1alpha1", Kind: "Application"},
			ObjectMeta: metav1.ObjectMeta{
				Name: app.Name, Namespace: app.Namespace, UID: types.UID(uuid.NewString()), Generation: 1,
				ResourceVersion: versions.next(), CreationTimestamp: metav1.NewTime(clock.Now().Truncate(time.Second)),
			},
			Spec: spec,
		},
		watchers: map[chan *v1alpha1.Application]struct{}{},
	}
}

// get returns a copy of the Application.
func (a *stored) get() *v1alpha1.Application {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current.DeepCopy()
}

// update changes the Application and shows it to the watchers, unless the change changes nothing.
// An error of change leaves everything as it was.
func (a *stored) update(change func(*v1alpha1.Application) error) (*v1alpha1.Application, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := a.current.DeepCopy()
	if err := change(next); err != nil {
		return nil, err
	}
	same, err := equal(next, a.current)
	if err != nil {
		return nil, err
	}
	if same {
		return next, nil
	}
	next.ResourceVersion = a.versions.next()
	next.Generation++ // the Application has no status subresource
	a.current = next
	for watcher := range a.watchers {
		select {
		case watcher <- next.DeepCopy():
		default:
		}
	}
	return next.DeepCopy(), nil
}

// equal compares two Applications as the API server would store them.
func equal(a, b *v1alpha1.Application) (bool, error) {
	x, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	y, err := json.Marshal(b)
	return bytes.Equal(x, y), err
}

// watch returns every later state of the Application until stop is called.
func (a *stored) watch() (events <-chan *v1alpha1.Application, stop func()) {
	watcher := make(chan *v1alpha1.Application, watchBuffer)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watchers[watcher] = struct{}{}
	return watcher, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.watchers, watcher)
	}
}

// setOperation begins an operation unless one is in progress.
func (a *stored) setOperation(operation *v1alpha1.Operation) (*v1alpha1.Application, error) {
	return a.update(func(app *v1alpha1.Application) error {
		if app.Operation != nil {
			return errOperationInProgress
		}
		app.Operation, app.Status.OperationState = operation, nil
		return nil
	})
}

// setConditions replaces the conditions of the given types and keeps the times of those that stay.
func setConditions(app *v1alpha1.Application, found []v1alpha1.ApplicationCondition, now metav1.Time, evaluated ...v1alpha1.ApplicationConditionType) {
	var kept []v1alpha1.ApplicationCondition
	for _, condition := range app.Status.Conditions {
		if !slices.Contains(evaluated, condition.Type) {
			kept = append(kept, condition)
		}
	}
	for _, condition := range found {
		condition.LastTransitionTime = &now
		for _, old := range app.Status.Conditions {
			if old.Type == condition.Type && old.Message == condition.Message {
				condition.LastTransitionTime = old.LastTransitionTime
			}
		}
		kept = append(kept, condition)
	}
	app.Status.Conditions = kept
}
