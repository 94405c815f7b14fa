package argo

import (
	"context"
	"slices"
	"strings"
	"time"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/oneline"
)

// The bounds of what is read of a pod.
const (
	evidenceTime   = 5 * time.Second
	evidenceLines  = 20
	evidenceBytes  = 4 << 10
	evidenceEvents = 10
)

// Evidence is what the newest pod of a revision has written, and what its events say.
// The lines are others' words, made fit to be quoted.
type Evidence struct {
	Pod    string   `json:"pod,omitempty"` // empty: there is none, or it may not be seen
	Events []string `json:"events,omitempty"`
	Log    []string `json:"log,omitempty"`
}

// Evidence reads the last lines and the events of a revision's newest pod. Whatever
// the token may not read is left out, and so is what does not come in a few seconds.
func (c *Client) Evidence(ctx context.Context, app App, revision string) Evidence {
	ctx, stop := context.WithTimeout(ctx, evidenceTime)
	defer stop()
	tree, err := c.tree(ctx, app)
	if err != nil {
		return Evidence{}
	}
	pod, found := newestPod(tree, revision)
	if !found {
		return Evidence{}
	}
	container := "user-container" // Knative's name for the only one
	if of, err := c.Revision(ctx, app, pod.Namespace, revision); err == nil {
		container = servingContainer(of)
	}
	return Evidence{Pod: oneline.Brief(pod.Name), Events: podEvents(ctx, c, app, pod), Log: podLog(ctx, c, app, pod, container)}
}

// newestPod is the revision's pod that was made last. Knative's Deployments are called
// as the revision is.
func newestPod(tree *v1alpha1.ApplicationTree, revision string) (newest v1alpha1.ResourceNode, found bool) {
	for _, node := range tree.Nodes {
		if node.Group != "" || node.Kind != "Pod" || !strings.HasPrefix(node.Name, revision+"-deployment-") {
			continue
		}
		if !found || node.CreatedAt != nil && (newest.CreatedAt == nil || newest.CreatedAt.Before(node.CreatedAt)) {
			newest, found = node, true
		}
	}
	return newest, found
}

// servingContainer is the name of the container that answers requests.
func servingContainer(revision *servingv1.Revision) string {
	containers := revision.Spec.Containers
	for _, c := range containers {
		if len(c.Ports) > 0 {
			return c.Name
		}
	}
	if len(containers) == 0 {
		return ""
	}
	return containers[0].Name
}

// podEvents are the messages of a pod's latest events.
func podEvents(ctx context.Context, c *Client, app App, pod v1alpha1.ResourceNode) (lines []string) {
	list, err := c.apps.ListResourceEvents(ctx, &applicationpkg.ApplicationResourceEventsQuery{
		Name: &app.Name, AppNamespace: given(app.Namespace), Project: given(app.Project),
		ResourceNamespace: &pod.Namespace, ResourceName: &pod.Name, ResourceUID: &pod.UID,
	})
	if err != nil {
		return nil
	}
	for _, e := range list.Items {
		lines = append(lines, oneline.Brief(e.Type+" "+e.Reason+": "+e.Message))
	}
	return lastOf(lines, evidenceEvents, evidenceBytes)
}

// podLog are the last lines that a container has written.
func podLog(ctx context.Context, c *Client, app App, pod v1alpha1.ResourceNode, container string) (lines []string) {
	tail := int64(evidenceLines)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := c.apps.PodLogs(ctx, &applicationpkg.ApplicationPodLogsQuery{
		Name: &app.Name, AppNamespace: given(app.Namespace), Project: given(app.Project),
		Namespace: &pod.Namespace, PodName: &pod.Name, Container: &container, TailLines: &tail,
	})
	if err != nil {
		return nil
	}
	for range 2 * evidenceLines { // more was not asked for
		entry, err := stream.Recv()
		if err != nil || entry.GetLast() {
			break
		}
		lines = append(lines, oneline.Brief(entry.GetContent()))
	}
	return lastOf(lines, evidenceLines, evidenceBytes)
}

// lastOf are the last of the lines, at most so many, and so many bytes in all.
func lastOf(lines []string, most, bytes int) []string {
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	lines = lines[max(0, len(lines)-most):]
	for i := len(lines) - 1; i >= 0; i-- {
		if bytes -= len(lines[i]) + 1; bytes < 0 {
			return lines[i+1:]
		}
	}
	return lines
}
