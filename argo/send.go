package argo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/grpc/codes"
	"knative.dev/serving/pkg/apis/serving"
)

// errWindow means that a sync window is closed.
var errWindow = errors.New("a sync window is closed")

// send sends a command to Argo CD.
func (c *Client) send(ctx context.Context, app *v1alpha1.Application, cmd command, service string) error {
	switch cmd {
	case terminate:
		return c.terminate(ctx, app)
	case syncStuck, syncHand:
		if err := c.checkWindows(ctx, app, cmd == syncHand); err != nil {
			return err
		}
	case syncOurs:
		return c.sync(ctx, app, &v1alpha1.SyncOperationResource{Group: serving.GroupName, Kind: "Service", Name: service})
	}
	return c.sync(ctx, app)
}

// sync asks for a sync of what the application follows, of some of its resources or of all: while auto-sync is on, Argo CD
// takes no revision
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/server/application/application.go#L2055-L2060).
func (c *Client) sync(ctx context.Context, app *v1alpha1.Application, only ...*v1alpha1.SyncOperationResource) error {
	project, prune := app.Spec.GetProject(), false
	request := &applicationpkg.ApplicationSyncRequest{
		Name: &app.Name, AppNamespace: &app.Namespace, Project: &project, Prune: &prune, Resources: only,
	}
	if policy := app.Spec.SyncPolicy; policy != nil && policy.Automated != nil {
		prune = policy.Automated.Prune // as auto-sync would have done it
	}
	if policy := app.Spec.SyncPolicy; policy == nil || policy.Retry == nil {
		request.RetryStrategy = &v1alpha1.RetryStrategy{Limit: 5} // auto-sync's own
	}
	_, err := c.apps.Sync(ctx, request)
	if err == nil {
		return nil
	}
	err = explain(err)
	switch {
	case hasCode(err, codes.FailedPrecondition) && strings.Contains(err.Error(), "another operation is already in progress"):
		return nil
	case errors.Is(err, ErrAuth) && strings.Contains(err.Error(), "blocked by sync window"):
		return errWindow // not a matter of permissions, though Argo CD says PermissionDenied
	}
	return fmt.Errorf("syncing application %s: %w", app.Name, err)
}

func (c *Client) terminate(ctx context.Context, app *v1alpha1.Application) error {
	project := app.Spec.GetProject()
	_, err := c.apps.TerminateOperation(ctx, &applicationpkg.OperationTerminateRequest{
		Name: &app.Name, AppNamespace: &app.Namespace, Project: &project,
	})
	if err != nil {
		return fmt.Errorf("terminating the sync of application %s: %w", app.Name, explain(err))
	}
	return nil
}

// checkWindows makes sure that Argo CD may sync by itself now, or by hand: its own answer
// CanSync is about that, which a window may allow more.
func (c *Client) checkWindows(ctx context.Context, app *v1alpha1.Application, byHand bool) error {
	windows, err := c.windows(ctx, app)
	if err != nil {
		return err
	}
	if Closed(windows) && (!byHand || !windows.GetCanSync()) {
		return errWindow
	}
	return nil
}

// Closed tells whether Argo CD may not sync by itself now: an active deny window closes,
// and so does an allow window that is assigned while none is active.
func Closed(windows *applicationpkg.ApplicationSyncWindowsResponse) bool {
	allowed, allows := false, false
	for _, w := range windows.ActiveWindows {
		if w.GetKind() == "deny" {
			return true
		}
		allowed = allowed || w.GetKind() == "allow"
	}
	for _, w := range windows.AssignedWindows {
		allows = allows || w.GetKind() == "allow"
	}
	return allows && !allowed
}
