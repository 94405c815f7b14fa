package argo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	versionpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/version"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/health"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/serving/pkg/apis/serving"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/httpx"
	"github.com/acme/knative-promote/internal/oneline"
)

// IsKnativeService tells a Knative Service by its group and kind from all else, such as
// the Service of Kubernetes.
func IsKnativeService(group, kind string) bool {
	return group == serving.GroupName && kind == "Service"
}

// A Client talks to one Argo CD API server. It is safe for concurrent use.
type Client struct {
	conn    *grpc.ClientConn
	apps    applicationpkg.ApplicationServiceClient
	timeout time.Duration
	expires time.Time // of the token; zero: never, or not known
}

// New checks the configuration. It makes no call.
func New(config Config) (*Client, error) {
	base, err := config.base()
	if err != nil {
		return nil, err
	}
	header, err := config.header()
	if err != nil {
		return nil, err
	}
	transport, err := config.transport()
	if err != nil {
		return nil, err
	}
	var sender http.RoundTripper = httpx.Whole{Next: transport}
	if config.Wrap != nil {
		sender = config.Wrap(sender)
	}
	timeout := config.timeout()
	conn, err := newConn(&grpcWeb{http: &httpClient{sender, header}, base: base}, &retry{timeout: timeout})
	if err != nil {
		return nil, fmt.Errorf("connecting to Argo CD: %w", err)
	}
	return &Client{conn: conn, apps: applicationpkg.NewApplicationServiceClient(conn), timeout: timeout, expires: expiry(config.Token)}, nil
}

// Version asks for Argo CD's version, such as v2.14.21+abcdef0. Argo CD answers it
// without looking at the token, so an error here is about the address.
func (c *Client) Version(ctx context.Context) (string, error) {
	answer, err := versionpkg.NewVersionServiceClient(c.conn).Version(ctx, &emptypb.Empty{})
	if err != nil {
		return "", fmt.Errorf("asking Argo CD for its version: %w", explain(err))
	}
	if answer.Version == "" {
		return "", errors.New("asking Argo CD for its version: the answer is empty: is this Argo CD?")
	}
	return oneline.Brief(answer.Version), nil
}

// Live is what is there before a promotion: the Application, checked to be the one that
// deploys the target's source, the live Service, and its latest ready Revision if it has one. To
// look at it undoes nothing that somebody has made of the Service with kubectl. It is
// ErrNotFound when the Application or the Service does not exist, which is another error
// where Argo CD contradicts itself about it.
func (c *Client) Live(ctx context.Context, target Target) (Observed, error) {
	if _, err := c.Version(ctx); err != nil {
		return Observed{}, err
	}
	application, err := standing(ctx, c, target)
	if err != nil {
		return Observed{}, orMissing(ctx, c, target.App, err)
	}
	observed := Observed{App: application}
	if _, err := SourceIndex(application, target.Source); err != nil {
		return observed, err
	}
	if observed.Service, err = c.service(ctx, target.App, application, target.Service); err != nil {
		return observed, unlessListed(unlessCompared(err, application), application, target.Service)
	}
	if ready := observed.Service.Status.LatestReadyRevisionName; ready != "" {
		observed.Revision, err = c.Revision(ctx, target.App, observed.Service.Namespace, ready)
	}
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return observed, err
}

// unlessCompared keeps a Service from passing for one that does not exist where Argo CD has not compared the
// Application: then its tree of live objects is empty, whatever runs in the cluster.
func unlessCompared(err error, app *v1alpha1.Application) error {
	status := app.Status.Sync.Status
	if !errors.Is(err, ErrNotFound) || status == v1alpha1.SyncStatusCodeSynced || status == v1alpha1.SyncStatusCodeOutOfSync {
		return err
	}
	var why string
	for _, c := range app.Status.Conditions {
		if uncompared(c) {
			why = ": " + oneline.Brief(c.Message)
		}
	}
	return fmt.Errorf("argo CD has not compared application %s with Git and the cluster, so that nobody can tell whether the Service is there; expected a status other than Unknown: correct what keeps it from that, or start again in a moment%s",
		app.Name, why)
}

// unlessListed keeps a Service that Argo CD has in sync, or knows the health of, from
// passing for one that does not exist: where its tree of live objects is not complete, as
// after a restart, it finds none, and what does not exist is deployed at once.
func unlessListed(err error, app *v1alpha1.Application, service string) error {
	listed := serviceStatus(Intent{Target: Target{Service: service}}, app)
	if !errors.Is(err, ErrNotFound) || listed == nil {
		return err
	}
	words := "in sync"
	if listed.Status != v1alpha1.SyncStatusCodeSynced {
		if listed.Health == nil || listed.Health.Status == "" || listed.Health.Status == health.HealthStatusMissing {
			return err
		}
		words = "as " + oneline.Brief(string(listed.Health.Status))
	}
	return fmt.Errorf("application %s has the Service %s %s, and yet Argo CD does not find it: expected one or the other; the command check may find why; start again when Argo CD agrees with itself: %s",
		app.Name, service, words, err.Error())
}

// Revision reads a live Revision of the Application. It is ErrNotFound when the
// Revision does not exist or is not the Application's.
func (c *Client) Revision(ctx context.Context, app App, namespace, name string) (*servingv1.Revision, error) {
	revision := new(servingv1.Revision)
	if err := c.resource(ctx, app, serving.GroupName, "Revision", namespace, name, revision); err != nil {
		return nil, err
	}
	return revision, nil
}

// noRefresh reads the Application as it is.
const noRefresh v1alpha1.RefreshType = ""

// refreshes are the kinds that are asked for, the next one where nobody has heard the one before.
var refreshes = map[v1alpha1.RefreshType][]v1alpha1.RefreshType{
	v1alpha1.RefreshTypeNormal: {v1alpha1.RefreshTypeNormal, v1alpha1.RefreshTypeHard},
	v1alpha1.RefreshTypeHard:   {v1alpha1.RefreshTypeHard},
}

// application reads the Application, after a new comparison with Git if that is asked for: a hard
// one renders anew what Argo CD has in its cache.
// A refresh ends when the application controller has answered it; when that takes
// longer than one call may, the Application is read as it is.
//
// Argo CD loses a refresh now and then: the controller writes what it has patched back
// over a newer copy in its cache, and with it the annotation that asks
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/controller/appcontroller.go#L1577-L1586,
// explained in https://github.com/argoproj/argo-rollouts/issues/4073). Asking the same
// again changes nothing then, so nobody would hear it. Asking for a hard refresh does.
func (c *Client) application(ctx context.Context, app App, refresh v1alpha1.RefreshType) (*v1alpha1.Application, error) {
	query := app.query()
	for _, kind := range refreshes[refresh] {
		if answer, err := c.refresh(ctx, *query, kind); err == nil {
			return withoutDryRun(answer), checkApplication(app, answer)
		} else if !isTimeout(err) || ctx.Err() != nil {
			return nil, fmt.Errorf("refreshing application %s: %w", app, explain(err))
		}
	}
	answer, err := c.apps.Get(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("reading application %s: %w", app, explain(err))
	}
	return withoutDryRun(answer), checkApplication(app, answer)
}

// withoutDryRun is an Application without the last operation, where that has ended and was a dry
// run: Argo CD keeps it as if it had applied the commit.
func withoutDryRun(app *v1alpha1.Application) *v1alpha1.Application {
	state := app.Status.OperationState
	if state != nil && state.Phase.Completed() && state.Operation.Sync != nil && state.Operation.Sync.DryRun {
		app.Status.OperationState = nil
	}
	return app
}

// refresh asks for one of the two kinds, which share the time of one call.
func (c *Client) refresh(ctx context.Context, query applicationpkg.ApplicationQuery, kind v1alpha1.RefreshType) (*v1alpha1.Application, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout/2)
	defer cancel()
	name := string(kind)
	query.Refresh = &name
	return c.apps.Get(ctx, &query)
}

// checkApplication makes sure that the answer is about the question: a lost trailer or
// a proxy can make an empty Application of an error.
func checkApplication(app App, answer *v1alpha1.Application) error {
	switch {
	case answer.Name != app.Name || answer.UID == "",
		app.Namespace != "" && answer.Namespace != app.Namespace,
		app.Project != "" && answer.Spec.GetProject() != app.Project:
		return fmt.Errorf("reading application %s: Argo CD answered with %q in namespace %q and project %q instead",
			app, oneline.Brief(answer.Name), oneline.Brief(answer.Namespace), oneline.Brief(answer.Spec.GetProject()))
	}
	return nil
}

// service reads the live Service of an Application.
func (c *Client) service(ctx context.Context, app App, application *v1alpha1.Application, name string) (*servingv1.Service, error) {
	namespace, err := serviceNamespace(application, name)
	if err != nil {
		return nil, err
	}
	service := new(servingv1.Service)
	if err := c.resource(ctx, app, serving.GroupName, "Service", namespace, name, service); err != nil {
		return nil, err
	}
	return service, nil
}

// serviceNamespace is where the Application has its Knative Service of that name: where
// its list of resources says, else its destination.
func serviceNamespace(app *v1alpha1.Application, name string) (string, error) {
	var found []string
	for _, r := range app.Status.Resources {
		if IsKnativeService(r.Group, r.Kind) && r.Name == name {
			found = append(found, r.Namespace)
		}
	}
	switch len(found) {
	case 0:
		return app.Spec.Destination.Namespace, nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("application %s has a Knative Service %s in each of the namespaces %s: expected one",
		app.Name, name, oneline.Brief(strings.Join(found, ", ")))
}

// resource reads one live object into into.
func (c *Client) resource(ctx context.Context, app App, group, kind, namespace, name string, into metav1.Object) error {
	answer, err := c.apps.GetResource(ctx, resourceRequest(app, group, kind, namespace, name))
	if err != nil {
		return fmt.Errorf("reading %s %s of application %s: %w", kind, name, app, explain(err))
	}
	if err := json.Unmarshal([]byte(answer.GetManifest()), into); err != nil {
		return fmt.Errorf("reading %s %s of application %s: %w", kind, name, app, err)
	}
	if into.GetName() != name || into.GetNamespace() != namespace || into.GetUID() == "" {
		return fmt.Errorf("reading %s %s/%s of application %s: Argo CD answered with %q in namespace %q instead",
			kind, namespace, name, app, oneline.Brief(into.GetName()), oneline.Brief(into.GetNamespace()))
	}
	return nil
}

// resourceRequest asks for one live object. All that are read are of version v1.
func resourceRequest(app App, group, kind, namespace, name string) *applicationpkg.ApplicationResourceRequest {
	version := "v1"
	return &applicationpkg.ApplicationResourceRequest{
		Name: &app.Name, AppNamespace: given(app.Namespace), Project: given(app.Project),
		Group: &group, Version: &version, Kind: &kind, Namespace: &namespace, ResourceName: &name,
	}
}
