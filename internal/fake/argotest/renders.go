package argotest

import (
	"context"
	"sync"

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
