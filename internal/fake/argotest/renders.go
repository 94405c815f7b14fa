package argotest

import (
	"context"
	"path"
	"strings"
	"sync"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// renders remembers what an overlay renders to at a commit, as Argo CD's repo server does.
type renders struct {
	mu   sync.Mutex
	done map[string][]*unstructured.Unstructured
}

// has tells whether something is rendered that a commit has.
func (r *renders) has(commit string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, found := r.done[commit]
	return found
}

func (r *renders) render(ctx context.Context, from source, commit string) ([]*unstructured.Unstructured, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, found := r.done[commit]; !found {
		manifests, err := from.render(ctx, commit)
		if err != nil {
			return nil, err
		}
		if r.done == nil {
			r.done = map[string][]*unstructured.Unstructured{}
		}
		r.done[commit] = manifests
	}
	var copies []*unstructured.Unstructured
	for _, manifest := range r.done[commit] {
		copies = append(copies, manifest.DeepCopy())
	}
	return copies, nil
}

// keep has a commit render to what another one does, if that is known and it is not rendered yet: so
// Argo CD passes over a commit that touches none of an Application's paths
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/reposerver/repository/repository.go, UpdateRevisionForPaths).
func (r *renders) keep(commit, of string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	manifests, known := r.done[of]
	if _, found := r.done[commit]; known && !found {
		r.done[commit] = manifests
	}
}

// forget has a commit rendered anew.
func (r *renders) forget(commit string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.done, commit)
}

// pathsLeaveOut tells whether an Application's paths are no folders that its overlay is in, so that
// a commit of the overlay touches none of them.
func pathsLeaveOut(app *v1alpha1.Application) bool {
	overlay, paths := path.Join("/", app.Spec.GetSource().Path), app.Annotations[v1alpha1.AnnotationKeyManifestGeneratePaths]
	for part := range strings.SplitSeq(paths, ";") {
		at := path.Join(overlay, part)
		if path.IsAbs(part) {
			at = path.Clean(part)
		}
		if part != "" && strings.HasPrefix(overlay+"/", strings.TrimSuffix(at, "/")+"/") {
			return false
		}
	}
	return paths != ""
}
