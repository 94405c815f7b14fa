package argo

import (
	"context"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// A Setup is how Argo CD treats one Application: what its API server tells a
// promotion's token. A nil or zero field could not be read, Unread says why.
type Setup struct {
	Version string // such as v2.14.21+abcdef0

	App       *v1alpha1.Application
	Project   *v1alpha1.AppProject
	Windows   *application.ApplicationSyncWindowsResponse
	Overrides map[string]*v1alpha1.ResourceOverride // by group_Kind, from argocd-cm

	// Owners are the other Applications that the token sees and that deploy the same Service.
	Owners []App

	Can     map[string]bool // actions on the Application, such as sync
	Expires time.Time       // of the token; zero: never, or not known

	Unread map[string]error // by name of the field
}

// Setup reads how Argo CD treats the Application that deploys service. What
// the token may not see is left out and named in Unread; the error is about
// the Application itself, which is read unless the caller knows it already.
func (c *Client) Setup(ctx context.Context, app App, service string, known *v1alpha1.Application) (Setup, error) {
	setup := Setup{App: known, Unread: map[string]error{}}
	var err error
	if known == nil {
		if setup.App, err = c.application(ctx, app, false); err != nil {
			return setup, err
		}
	}
	if setup.Version, err = c.Version(ctx); err != nil {
		setup.Unread["Version"] = err
	}
	return setup, nil
}
