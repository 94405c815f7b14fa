package argo

import (
	"context"
	"fmt"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
)

// Applications finds the Applications that deploy a source, of those that the
// token sees. Argo CD has no such question: the one for a repository wants the
// first source's address letter by letter.
func (c *Client) Applications(ctx context.Context, source Source) ([]App, error) {
	list, err := c.apps.List(ctx, &applicationpkg.ApplicationQuery{})
	if err != nil {
		return nil, fmt.Errorf("listing the applications: %w", explain(err))
	}
	var found []App
	for i := range list.Items {
		app := &list.Items[i]
		if _, err := SourceIndex(app, source); err == nil {
			found = append(found, App{Name: app.Name, Namespace: app.Namespace, Project: app.Spec.GetProject()})
		}
	}
	return found, nil
}
