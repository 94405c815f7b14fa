package argo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"

	"github.com/acme/knative-promote/internal/oneline"
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

// mostNamed is how many Applications an error names.
const mostNamed = 5

// orMissing is ErrNotFound in the place of an error that leaves open whether the
// Application exists, where the token sees others and none of that name. Argo CD tells
// the two apart only to those who say the project.
func orMissing(ctx context.Context, c *Client, app App, err error) error {
	if !errors.Is(err, errDenied) || app.Project != "" {
		return err
	}
	list, unlisted := c.apps.List(ctx, &applicationpkg.ApplicationQuery{})
	if unlisted != nil || len(list.Items) == 0 {
		return err
	}
	var names []string
	for i := range list.Items {
		other := &list.Items[i]
		if other.Name == app.Name && (app.Namespace == "" || app.Namespace == other.Namespace) {
			return err
		}
		names = append(names, oneline.Brief(other.Name))
	}
	slices.Sort(names)
	more := ""
	if len(names) > mostNamed {
		names, more = names[:mostNamed], fmt.Sprintf(" and %d more", len(names)-mostNamed)
	}
	return fmt.Errorf("application %s: %w: the token sees no Application of that name, but %s%s", app, ErrNotFound, strings.Join(names, ", "), more)
}
