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

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/internal/sleep"
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
	Unknown   bool   // nobody can tell whether it has: it still runs, or is gone
	Reason    string // why it has not succeeded, one line
}

// RunJob starts a Job of a CronJob of the Application, by Argo CD's action
// create-job, and waits for its end for as long as the context lasts. The Job is
// found as a new child of the CronJob in the tree of live objects: its name
// follows from Argo CD's clock, and there is one a minute
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/resource_customizations/batch/CronJob/actions/create-job/action.lua).
// An error says that no Job is known to have been started.
func (c *Client) RunJob(ctx context.Context, app App, cronJob string) (JobEnd, error) {
	tree, err := c.tree(ctx, app)
	if err != nil {
		return JobEnd{}, err
	}
	owner, err := cronJobIn(tree, app, cronJob)
	if err != nil {
		return JobEnd{}, err
	}
	name, err := startJob(ctx, c, app, owner, jobsOf(tree, owner))
	if err != nil {
		return JobEnd{}, err
	}
	return awaitJob(ctx, c, app, owner.Namespace, name), nil
}

// startJob starts a Job and finds its name. Where Argo CD cannot say whether it has
// started one and shows none, it is asked again for as long as the context lasts.
func startJob(ctx context.Context, c *Client, app App, owner v1alpha1.ResourceNode, known []v1alpha1.ResourceNode) (string, error) {
	for said := error(nil); ; { // said by an earlier try, which tells more than that the time is over
		started := createJob(ctx, c, app, owner)
		if ctx.Err() != nil && said != nil {
			return "", fmt.Errorf("%w: %w", said, context.Cause(ctx))
		}
		if started != nil && !mayHaveStarted(started) {
			return "", started
		}
		patience := jobSeen
		if said = started; said != nil {
			patience = jobDoubted
		}
		name, err := newJob(ctx, c, app, owner, known, patience)
		switch {
		case err == nil:
			return name, nil
		case said != nil && ctx.Err() != nil:
			return "", fmt.Errorf("%w: %w", said, context.Cause(ctx))
		case said == nil || !errors.Is(err, errJobUnseen):
			return "", err
		}
		// Nobody has started one: the name of this minute was taken before.
	}
}

// createJob asks for the action.
func createJob(ctx context.Context, c *Client, app App, owner v1alpha1.ResourceNode) error {
	_, err := c.apps.RunResourceAction(ctx, jobRequest(app, owner))
	if err == nil {
		return nil
	}
	err = explain(err)
	// Kubernetes may forbid Jobs too, to Argo CD itself.
	if errors.Is(err, ErrAuth) && !strings.Contains(err.Error(), "is forbidden") {
		err = fmt.Errorf("%w: the token's role needs: p, ROLE, applications, %s, PROJECT/%s, allow", err, MayStartJobs, app.Name)
	}
	return fmt.Errorf("starting a Job of CronJob %s of application %s: %w", owner.Name, app, err)
}

// jobRequest asks for a Job of a CronJob. Argo CD 3 has a second version of the
// call, and takes this one too.
func jobRequest(app App, of v1alpha1.ResourceNode) *applicationpkg.ResourceActionRunRequest {
	group, kind, version, action := jobGroup, "CronJob", "v1", "create-job"
	return &applicationpkg.ResourceActionRunRequest{
		Name: &app.Name, AppNamespace: given(app.Namespace), Project: given(app.Project),
		Namespace: &of.Namespace, ResourceName: &of.Name, Group: &group, Kind: &kind, Version: &version, Action: &action,
	}
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
func newJob(ctx context.Context, c *Client, app App, owner v1alpha1.ResourceNode, known []v1alpha1.ResourceNode, patience time.Duration) (string, error) {
	for until := time.Now().Add(patience); ; {
		tree, err := c.tree(ctx, app)
		if err != nil {
			return "", err
		}
		if name := newest(jobsOf(tree, owner), known); name != "" {
			return name, nil
		}
		if sleep.For(ctx, jobPoll) != nil {
			return "", fmt.Errorf("waiting for a Job of CronJob %s: %w", owner.Name, context.Cause(ctx))
		}
		if time.Now().After(until) {
			return "", fmt.Errorf("waiting for a Job of CronJob %s of application %s: %w, %s after it was started", owner.Name, app, errJobUnseen, patience)
		}
	}
}

// newest is the name of the last of the Jobs that are not known, empty if all are:
// one that an ended run has started may be shown late. A name ends with the minute.
func newest(jobs, known []v1alpha1.ResourceNode) string {
	last := ""
	for _, job := range jobs {
		if !slices.ContainsFunc(known, func(k v1alpha1.ResourceNode) bool { return k.UID == job.UID }) {
			last = max(last, job.Name)
		}
	}
	return last
}

// awaitJob reads the Job until it has ended. What cannot be read for a while may
// be read again: another Job would do its work twice.
func awaitJob(ctx context.Context, c *Client, app App, namespace, name string) JobEnd {
	for why := "it has not ended"; ; {
		job := new(batchv1.Job)
		err := c.resource(ctx, app, jobGroup, "Job", namespace, name, job)
		if errors.Is(err, ErrNotFound) {
			return JobEnd{Name: name, Unknown: true, Reason: "it was deleted before its end was seen"}
		}
		if err != nil && ctx.Err() == nil {
			why = "its end could not be read: " + err.Error()
		}
		for _, condition := range job.Status.Conditions {
			switch ended := condition.Status == corev1.ConditionTrue; {
			case ended && condition.Type == batchv1.JobComplete:
				return JobEnd{Name: name, Succeeded: true}
			case ended && condition.Type == batchv1.JobFailed:
				return JobEnd{Name: name, Reason: oneline.Brief(strings.TrimPrefix(condition.Reason+": "+condition.Message, ": "))}
			}
		}
		if sleep.For(ctx, jobPoll) == nil {
			continue
		}
		return JobEnd{Name: name, Unknown: true, Reason: why + ": " + context.Cause(ctx).Error()}
	}
}

// tree is what Argo CD has found of the Application's live objects.
func (c *Client) tree(ctx context.Context, app App) (*v1alpha1.ApplicationTree, error) {
	query := &applicationpkg.ResourcesQuery{ApplicationName: &app.Name, AppNamespace: given(app.Namespace), Project: given(app.Project)}
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

// jobsOf are the Jobs of a CronJob.
func jobsOf(tree *v1alpha1.ApplicationTree, owner v1alpha1.ResourceNode) []v1alpha1.ResourceNode {
	var jobs []v1alpha1.ResourceNode
	for _, node := range tree.Nodes {
		if node.Group == jobGroup && node.Kind == "Job" && slices.ContainsFunc(node.ParentRefs, func(r v1alpha1.ResourceRef) bool { return r.UID == owner.UID }) {
			jobs = append(jobs, node)
		}
	}
	return jobs
}
