package argo

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	accountpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/account"
	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// A Right is what a token may do, in the words of an error about it.
type Right string

// The rights that a Setup asks for: about the Application, and about its
// project. A promotion needs none but to sync, and not always that.
const (
	MaySync          Right = "sync"
	MayUpdate        Right = "update"
	MayDelete        Right = "delete"
	MayUpdateProject Right = "update project"
	// MayStartJobs is asked for where an analysis has Jobs.
	MayStartJobs Right = "action/batch/CronJob/create-job"
)

// rightsReader asks for rights.
func rightsReader(rights ...Right) reader {
	return func(ctx context.Context, c *Client, s *Setup) error { return readRights(ctx, c, s, rights) }
}

// readRights asks what the token may do.
func readRights(ctx context.Context, c *Client, s *Setup, rights []Right) error {
	var (
		group  sync.WaitGroup
		mu     sync.Mutex
		can    = map[Right]bool{}
		failed error
	)
	for _, right := range rights {
		group.Go(func() {
			may, err := may(ctx, c, s, right)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = fmt.Errorf("asking Argo CD whether the token may %s: %w", right, err)
				return
			}
			can[right] = may
		})
	}
	group.Wait()
	if len(can) > 0 {
		s.Can = can
	}
	return failed
}

// may asks for one right, by Argo CD's own can-i where that knows it.
func may(ctx context.Context, c *Client, s *Setup, right Right) (bool, error) {
	if right == MayStartJobs {
		return mayStartJobs(ctx, c, s)
	}
	answer, err := accountpkg.NewAccountServiceClient(c.conn).CanI(ctx, s.question(right))
	if err != nil {
		return false, explain(err)
	}
	return answer.Value == "yes", nil
}

// mayStartJobs asks for a Job of a CronJob whose name none can have. Can-i takes
// no actions of resources
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/server/account/account.go#L121-L123),
// and Argo CD asks for the right before it looks for the CronJob
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/server/application/application.go#L1366-L1383).
func mayStartJobs(ctx context.Context, c *Client, s *Setup) (bool, error) {
	none := v1alpha1.ResourceNode{ResourceRef: v1alpha1.ResourceRef{Namespace: "-", Name: "-"}}
	_, err := c.apps.RunResourceAction(ctx, jobRequest(App{Name: s.App.Name, Namespace: s.App.Namespace, Project: s.App.Spec.GetProject()}, none))
	if err == nil {
		return true, nil
	}
	switch err = explain(err); {
	case errors.Is(err, ErrNotFound):
		return true, nil
	case errors.Is(err, errDenied):
		return false, nil
	}
	return false, err
}

// question asks for one right in Argo CD's terms.
func (s *Setup) question(right Right) *accountpkg.CanIRequest {
	if right == MayUpdateProject {
		return &accountpkg.CanIRequest{Resource: "projects", Action: "update", Subresource: s.App.Spec.GetProject()}
	}
	// https://argo-cd.readthedocs.io/en/release-2.14/operator-manual/rbac/#application-specific-policy
	object := s.App.RBACName(cmp.Or(s.App.Status.ControllerNamespace, s.App.Namespace))
	return &accountpkg.CanIRequest{Resource: "applications", Action: string(right), Subresource: object}
}

// ownersTimeout bounds a question whose answer grows with the number of
// Applications.
const ownersTimeout = 5 * time.Second

// ownersReader looks for other Applications with the same Service. Those that
// come from other repositories show as a warning of Argo CD, in the conditions
// of this or of the other one.
func ownersReader(service string) reader {
	return func(ctx context.Context, c *Client, s *Setup) error {
		ctx, stop := context.WithTimeout(ctx, ownersTimeout)
		defer stop()
		repository := s.App.Spec.GetSource().RepoURL
		list, err := c.apps.List(ctx, &applicationpkg.ApplicationQuery{Repo: &repository})
		if err != nil {
			return fmt.Errorf("listing the applications of %s: %w", shown(repository), explain(err))
		}
		namespace, err := serviceNamespace(s.App, service)
		if err != nil {
			return err
		}
		for i := range list.Items {
			other := &list.Items[i]
			if other.UID != s.App.UID && sameCluster(s.App.Spec.Destination, other.Spec.Destination) && deploys(other, namespace, service) {
				s.Owners = append(s.Owners, App{Name: other.Name, Namespace: other.Namespace, Project: other.Spec.GetProject()})
			}
		}
		return nil
	}
}

// othersReader looks for other Applications that deploy a source.
func othersReader(source Source) reader {
	return func(ctx context.Context, c *Client, s *Setup) error {
		ctx, stop := context.WithTimeout(ctx, ownersTimeout)
		defer stop()
		all, err := c.Applications(ctx, source)
		for _, app := range all {
			if app.Name != s.App.Name || app.Namespace != s.App.Namespace {
				s.Others = append(s.Others, app)
			}
		}
		return err
	}
}

func sameCluster(a, b v1alpha1.ApplicationDestination) bool {
	return a.Server == b.Server && a.Name == b.Name
}

func deploys(app *v1alpha1.Application, namespace, service string) bool {
	for _, r := range app.Status.Resources {
		if IsKnativeService(r.Group, r.Kind) && r.Name == service && r.Namespace == namespace && !r.RequiresPruning {
			return true
		}
	}
	return false
}

// windows asks which sync windows the Application has and which are active.
func (c *Client) windows(ctx context.Context, app *v1alpha1.Application) (*applicationpkg.ApplicationSyncWindowsResponse, error) {
	project := app.Spec.GetProject()
	windows, err := c.apps.GetApplicationSyncWindows(ctx, &applicationpkg.ApplicationSyncWindowsQuery{
		Name: &app.Name, AppNamespace: &app.Namespace, Project: &project,
	})
	if err != nil {
		return nil, fmt.Errorf("reading the sync windows of application %s: %w", app.Name, explain(err))
	}
	return windows, nil
}

// expiry is when a token ends, as it says itself; zero for one that says
// nothing, or that only its issuer can read. Nothing is trusted for it, so the
// signature does not matter.
func expiry(token string) time.Time {
	var claims struct {
		Expires *json.Number `json:"exp"`
	}
	if err := decodeClaims(token, &claims); err != nil || claims.Expires == nil {
		return time.Time{}
	}
	seconds, err := claims.Expires.Float64()
	if err != nil || seconds <= 0 || seconds > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

// decodeClaims reads the middle part of a JSON Web Token
// (https://www.rfc-editor.org/rfc/rfc7519#section-3).
func decodeClaims(token string, into any) error {
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 {
		return errors.New("not a JSON Web Token")
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return err
	}
	return json.Unmarshal(claims, into)
}
