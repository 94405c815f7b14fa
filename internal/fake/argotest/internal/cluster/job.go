package cluster

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// CreateJob makes a Job of a CronJob, named as Argo CD's action create-job does:
// one a minute. It has ended when it is seen first: failed where the CronJob has
// …broken… in an image, and never where it has …endless….
func (c *Cluster) CreateJob(of Ref) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	cron := c.objects.get(of)
	if cron == nil {
		return fmt.Errorf("cronjobs.batch %q not found", of.Name)
	}
	now := c.config.Clock.Now()
	ref := Ref{Group: of.Group, Kind: "Job", Namespace: of.Namespace, Name: of.Name + "-" + now.UTC().Format("0601021504")}
	if c.objects.get(ref) != nil {
		return fmt.Errorf("jobs.batch %q already exists", ref.Name)
	}
	spec, _, err := unstructured.NestedMap(cron.Object, "spec", "jobTemplate", "spec")
	if err != nil {
		return err
	}
	version := c.nextVersion()
	job := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "spec": spec, "status": jobStatus(spec)}}
	job.SetName(ref.Name)
	job.SetNamespace(ref.Namespace)
	job.SetUID(types.UID(fmt.Sprintf("job-%d", version)))
	job.SetResourceVersion(fmt.Sprint(version))
	job.SetCreationTimestamp(metav1.NewTime(now))
	controls := true
	job.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "batch/v1", Kind: of.Kind, Name: of.Name, UID: cron.GetUID(), Controller: &controls}})
	c.objects.others[ref] = job
	c.touch()
	return nil
}

func jobStatus(spec map[string]any) map[string]any {
	condition := map[string]any{"type": "Complete", "status": "True"}
	switch text := fmt.Sprint(spec); {
	case strings.Contains(text, "endless"):
		return map[string]any{"active": int64(1)}
	case strings.Contains(text, "broken"):
		condition = map[string]any{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}
	}
	return map[string]any{"conditions": []any{condition}}
}

// A HookEnd is what becomes of a Job that is a hook.
type HookEnd int

// A hook succeeds, unless it is said otherwise.
const (
	HookSucceeds HookEnd = iota
	HookFails            // such as a migration that is older than the database
	HookHangs            // it never ends
)

// EndHooks has each Job of a hook with an image end so from now on.
func (c *Cluster) EndHooks(image string, end HookEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooks[image] = end
}

// HookEndOf is what becomes of a Job of a hook.
func (c *Cluster) HookEndOf(job *unstructured.Unstructured) HookEnd {
	c.mu.Lock()
	defer c.mu.Unlock()
	containers, _, _ := unstructured.NestedSlice(job.Object, "spec", "template", "spec", "containers")
	for _, container := range containers {
		fields, _ := container.(map[string]any)
		image, _ := fields["image"].(string)
		if end := c.hooks[image]; end != HookSucceeds {
			return end
		}
	}
	return HookSucceeds
}
