package argotest

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pods are what the pods of all revisions have written, and their events. The model has
// no pods of its own.
type pods struct {
	mu          sync.Mutex
	log, events []string
}

// podsOf is what a Deployment's pod of the model is called after its revision.
const podsOf = "-deployment-7d9f-x2k4v"

// Pods gives each revision a pod that has written these lines, and that events with
// these messages are about.
func (s *Server) Pods(log, events []string) {
	s.pods.mu.Lock()
	defer s.pods.mu.Unlock()
	s.pods.log, s.pods.events = slices.Clone(log), slices.Clone(events)
}

// told is what the pods have written, and their events.
func (p *pods) told() (log, events []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log, p.events
}

// podNodes are the pods of the revisions among the nodes.
func (p *pods) podNodes(nodes []v1alpha1.ResourceNode) (found []v1alpha1.ResourceNode) {
	if log, events := p.told(); log == nil && events == nil {
		return nil
	}
	for _, n := range nodes {
		if n.Kind == "Revision" {
			ref := v1alpha1.ResourceRef{Version: "v1", Kind: "Pod", Namespace: n.Namespace, Name: n.Name + podsOf, UID: "pod-" + n.UID}
			found = append(found, v1alpha1.ResourceNode{ResourceRef: ref, ParentRefs: []v1alpha1.ResourceRef{n.ResourceRef}, CreatedAt: n.CreatedAt})
		}
	}
	return found
}

// PodLogs sends the last lines of a pod. As the real one, where logs are a right of
// their own, it wants that.
func (a *applications) PodLogs(query *application.ApplicationPodLogsQuery, stream application.ApplicationService_PodLogsServer) error {
	if _, err := a.find(query.GetProject(), query.GetAppNamespace(), query.GetName()); err != nil {
		return err
	}
	if err := a.rights.check("logs", "get", query.GetName()); err != nil {
		return err
	}
	log, _ := a.server.pods.told()
	if !strings.HasSuffix(query.GetPodName(), podsOf) {
		return nil // Argo CD says nothing of a pod that it does not know
	}
	if query.GetContainer() == "" {
		log = []string{"a container name must be specified for pod " + query.GetPodName()}
	}
	if n := int(query.GetTailLines()); n > 0 {
		log = log[max(0, len(log)-n):]
	}
	for i, line := range append(slices.Clone(log), "") {
		at, last := metav1.Unix(int64(i), 0), i == len(log)
		stamp := strconv.Itoa(i)
		if err := stream.Send(&application.LogEntry{Content: &line, TimeStamp: &at, TimeStampStr: &stamp, Last: &last, PodName: query.PodName}); err != nil {
			return err
		}
	}
	return nil
}

// ListResourceEvents lists the events of a pod.
func (a *applications) ListResourceEvents(_ context.Context, query *application.ApplicationResourceEventsQuery) (*corev1.EventList, error) {
	if _, err := a.find(query.GetProject(), query.GetAppNamespace(), query.GetName()); err != nil {
		return nil, err
	}
	if !strings.HasSuffix(query.GetResourceName(), podsOf) || !strings.HasPrefix(query.GetResourceUID(), "pod-") {
		return nil, status.Errorf(codes.InvalidArgument, "%s not found as part of application %s", query.GetResourceName(), query.GetName())
	}
	_, events := a.server.pods.told()
	list := &corev1.EventList{}
	for i, message := range events {
		list.Items = append(list.Items, corev1.Event{Type: "Warning", Reason: "BackOff", Message: message, LastTimestamp: metav1.NewTime(time.Unix(int64(i), 0))})
	}
	return list, nil
}
