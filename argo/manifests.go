package argo

import (
	"context"
	"fmt"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Manifests are what Argo CD itself renders of an Application at a commit of the source, with its own
// version of kustomize and all that the Application sets. What a Secret holds is hidden. The error
// may be that it does not render there.
func (c *Client) Manifests(ctx context.Context, app *v1alpha1.Application, source Source, commit string) ([]unstructured.Unstructured, error) {
	index, err := SourceIndex(app, source)
	if err != nil {
		return nil, err
	}
	project := app.Spec.GetProject()
	query := &applicationpkg.ApplicationManifestQuery{Name: &app.Name, AppNamespace: given(app.Namespace), Project: &project, Revision: &commit}
	if app.Spec.HasMultipleSources() {
		query.Revision, query.Revisions, query.SourcePositions = nil, []string{commit}, []int64{int64(index + 1)}
	}
	answer, err := c.apps.GetManifests(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("having Argo CD render application %s: %w", app.Name, explain(err))
	}
	var all []unstructured.Unstructured
	for _, manifest := range answer.GetManifests() {
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON([]byte(manifest)); err != nil {
			return nil, fmt.Errorf("reading what Argo CD renders of application %s: %w", app.Name, err)
		}
		all = append(all, object)
	}
	return all, nil
}

// Compares tells whether an Application compares a commit of a source with the cluster, so that it has rendered it.
func Compares(app *v1alpha1.Application, source Source, commit string) bool {
	return revisionOf(Intent{Target: Target{Source: source}}, app, app.Status.Sync.Revision, app.Status.Sync.Revisions) == commit
}
