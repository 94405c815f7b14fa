package argo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/grpc/codes"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/acme/knative-promote/gitops/sleep"
)

const (
	jobGroup = "batch"
	jobPoll  = 2 * time.Second
	// jobSeen is how long after the action the Job may take to be in the tree, and
	// jobDoubted after one of which nobody knows whether it was done.
	jobSeen    = 30 * time.Second
	jobDoubted = 5 * time.Second
)

// errJobUnseen is a Job that Argo CD does not show.
var errJobUnseen = errors.New("no new one is shown")

// A JobEnd is how a Job ended.
type JobEnd struct {
	Name      string
	Succeeded bool
	Reason    string // why it failed, one line
}

// RunJob starts a Job of a CronJob of the Application, by Argo CD's action
// create-job, and waits for its end. The Job is found as a new child of the
// CronJob in the tree of live objects: its name follows from Argo CD's clock, and
// there is one a minute, which another run may have started.
func (c *Client) RunJob(ctx context.Context, app App, cronJob string) (JobEnd, error) {
	tree, err := c.tree(ctx, app)
	if err != nil {
		return JobEnd{}, err
	}
	owner, err := cronJobIn(tree, app, cronJob)
	if err != nil {
		return JobEnd{}, err
	}
	known := jobsOf(tree, owner)
	for {
		started := c.createJob(ctx, app, owner)
		if started != nil && !mayHaveStarted(started) {
			return JobEnd{}, started
		}
		patience := jobSeen
		if started != nil {
			patience = jobDoubted
		}
		name, err := c.newJob(ctx, app, owner, known, patience)
		switch {
		case err == nil:
			return c.awaitJob(ctx, app, owner.Namespace, name)
		case started == nil || !errors.Is(err, errJobUnseen):
			return JobEnd{}, err
		}
		// Nobody has started one: the name of this minute was taken before.
	}
}

// createJob asks for the action.
func (c *Client) createJob(ctx context.Context, app App, owner v1alpha1.ResourceNode) error {
	group, kind, version, action := jobGroup, "CronJob", owner.Version, "create-job"
	request := &applicationpkg.ResourceActionRunRequest{
		Name: &app.Name, Namespace: &owner.Namespace, ResourceName: &owner.Name, Group: &group, Kind: &kind, Version: &version, Action: &action,
	}
	if app.Namespace != "" {
		request.AppNamespace = &app.Namespace
	}
	if app.Project != "" {
		request.Project = &app.Project
	}
	_, err := c.apps.RunResourceAction(ctx, request)
	if err == nil {
		return nil
	}
	if err = explain(err); errors.Is(err, ErrAuth) {
		err = fmt.Errorf("%w: the token's role needs: p, ROLE, applications, action/%s/%s/%s, PROJECT/%s, allow", err, group, kind, action, app.Name)
	}
	return fmt.Errorf("starting a Job of CronJob %s of application %s: %w", owner.Name, app, err)
}

// mayHaveStarted tells a Job of this minute that is there already, and an answer
// that was lost, from a refusal.
func mayHaveStarted(err error) bool {
	if strings.Contains(err.Error(), "already exists") {
		return true
	}
	return slices.ContainsFunc([]codes.Code{codes.AlreadyExists, codes.Unavailable, codes.Internal, codes.DeadlineExceeded}, func(code codes.Code) bool { return hasCode(err, code) })
}

// newJob is the CronJob's Job that was not known before.
func (c *Client) newJob(ctx context.Context, app App, owner v1alpha1.ResourceNode, known map[string]string, patience time.Duration) (string, error) {
	for until := time.Now().Add(patience); ; {
		tree, err := c.tree(ctx, app)
		if err != nil {
			return "", err
		}
		for uid, name := range jobsOf(tree, owner) {
			if known[uid] == "" {
				return name, nil
			}
		}
		if sleep.For(ctx, jobPoll) != nil {
			return "", fmt.Errorf("waiting for a Job of CronJob %s: %w", owner.Name, context.Cause(ctx))
		}
		if time.Now().After(until) {
			return "", fmt.Errorf("waiting for a Job of CronJob %s of application %s: %w, %s after it was started", owner.Name, app, errJobUnseen, patience)
		}
	}
}

// awaitJob reads the Job until it has ended. What cannot be read for a while may
// be read again: another Job would do its work twice.
func (c *Client) awaitJob(ctx context.Context, app App, namespace, name string) (JobEnd, error) {
	for {
		job := new(batchv1.Job)
		err := c.resource(ctx, app, jobGroup, "Job", namespace, name, job)
		if errors.Is(err, ErrNotFound) {
			return JobEnd{}, err
		}
		for _, condition := range job.Status.Conditions {
			switch ended := condition.Status == corev1.ConditionTrue; {
			case ended && condition.Type == batchv1.JobComplete:
				return JobEnd{Name: name, Succeeded: true}, nil
			case ended && condition.Type == batchv1.JobFailed:
				return JobEnd{Name: name, Reason: clean(strings.TrimPrefix(condition.Reason+": "+condition.Message, ": "))}, nil
			}
		}
		if sleep.For(ctx, jobPoll) != nil {
			return JobEnd{}, errors.Join(fmt.Errorf("waiting for the end of Job %s: %w", name, context.Cause(ctx)), err)
		}
	}
}

// tree is what Argo CD has found of the Application's live objects.
func (c *Client) tree(ctx context.Context, app App) (*v1alpha1.ApplicationTree, error) {
	query := &applicationpkg.ResourcesQuery{ApplicationName: &app.Name}
	if app.Namespace != "" {
		query.AppNamespace = &app.Namespace
	}
	if app.Project != "" {
		query.Project = &app.Project
	}
	tree, err := c.apps.ResourceTree(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("reading the live objects of application %s: %w", app, explain(err))
	}
	return tree, nil
}

func cronJobIn(tree *v1alpha1.ApplicationTree, app App, name string) (v1alpha1.ResourceNode, error) {
	var found []v1alpha1.ResourceNode
	for _, node := range tree.Nodes {
		if node.Group == jobGroup && node.Kind == "CronJob" && node.Name == name {
			found = append(found, node)
		}
	}
	if len(found) != 1 {
		return v1alpha1.ResourceNode{}, fmt.Errorf("application %s has %d live CronJobs with the name %s: expected one", app, len(found), name)
	}
	return found[0], nil
}

// jobsOf are the names of a CronJob's Jobs, by their UIDs.
func jobsOf(tree *v1alpha1.ApplicationTree, owner v1alpha1.ResourceNode) map[string]string {
	jobs := map[string]string{}
	for _, node := range tree.Nodes {
		if node.Group == jobGroup && node.Kind == "Job" && slices.ContainsFunc(node.ParentRefs, func(r v1alpha1.ResourceRef) bool { return r.UID == owner.UID }) {
			jobs[node.UID] = node.Name
		}
	}
	return jobs
}
