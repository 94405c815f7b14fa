package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// Apply applies a manifest as `kubectl apply` does on the client's side: a three-way JSON merge
// patch of the manifest, what was applied before and what is live. It returns kubectl's line, such
// as "service.serving.knative.dev/shop configured".
func (c *Cluster) Apply(ctx context.Context, manifest *unstructured.Unstructured) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	live := c.objects.get(RefOf(manifest))
	verb, action, err := "creating", "created", error(nil)
	if live == nil {
		err = c.create(ctx, manifest)
	} else {
		verb = "patching"
		action, err = c.patch(ctx, manifest, live)
	}
	if err != nil {
		return "", fmt.Errorf("error when %s \"/dev/shm/%d\": %w", verb, c.pick.Uint32(), err)
	}
	return fmt.Sprintf("%s/%s %s", resource(manifest), manifest.GetName(), action), nil
}

// resource is the kind as kubectl prints it.
func resource(obj *unstructured.Unstructured) string {
	kind, group := strings.ToLower(obj.GetKind()), obj.GroupVersionKind().Group
	if group == "" {
		return kind
	}
	return kind + "." + group
}

func (c *Cluster) create(ctx context.Context, manifest *unstructured.Unstructured) error {
	obj := manifest.DeepCopy()
	applied, err := lastApplied(manifest)
	if err != nil {
		return err
	}
	annotate(obj, applied)
	if !isService(obj) {
		c.fresh(obj)
		c.objects.others[RefOf(obj)] = obj
		c.touch()
		return nil
	}
	service, err := decode(obj)
	if err != nil {
		return err
	}
	c.complete(service)
	if service, err = admit(ctx, applier, service, nil); err != nil {
		return err
	}
	c.fresh(service)
	c.objects.services[keyOf(service)] = service
	c.touch()
	return nil
}

// fresh gives a new object what the API server gives it.
func (c *Cluster) fresh(obj metav1.Object) {
	obj.SetUID(newUID())
	obj.SetGeneration(1)
	obj.SetResourceVersion(strconv.FormatInt(c.nextVersion(), 10))
	obj.SetCreationTimestamp(metav1.NewTime(c.config.Clock.Now().Truncate(time.Second)))
}

func (c *Cluster) patch(ctx context.Context, manifest, live *unstructured.Unstructured) (string, error) {
	merged, err := threeWay(manifest, live)
	if err != nil {
		return "", err
	}
	if !isService(merged) {
		if equality.Semantic.DeepEqual(merged.Object, live.Object) {
			return "unchanged", nil
		}
		merged.SetResourceVersion(strconv.FormatInt(c.nextVersion(), 10))
		c.objects.others[RefOf(merged)] = merged
		c.touch()
		return "configured", nil
	}
	service, err := decode(merged)
	if err != nil {
		return "", err
	}
	return c.update(ctx, applier, service)
}

// Edit changes a live Service as a human with kubectl does.
func (c *Cluster) Edit(ctx context.Context, namespace, name string, change func(*servingv1.Service)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	service := c.objects.services[key{namespace, name}].DeepCopy()
	if service == nil {
		return fmt.Errorf("services.serving.knative.dev %q not found", name)
	}
	change(service)
	_, err := c.update(ctx, human, service)
	return err
}

// update stores a changed Service if its admission allows it.
func (c *Cluster) update(ctx context.Context, user string, service *servingv1.Service) (string, error) {
	old := c.objects.services[keyOf(service)]
	if equality.Semantic.DeepEqual(service, old) {
		return "unchanged", nil
	}
	c.complete(service)
	service, err := admit(ctx, user, service, old.DeepCopy())
	if err == nil {
		err = c.denied(service)
	}
	if err != nil {
		return "", err
	}
	if equality.Semantic.DeepEqual(service, old) {
		return "configured", nil // the defaults came back; the API server stores nothing
	}
	if !equality.Semantic.DeepEqual(service.Spec, old.Spec) {
		service.Generation++
	}
	service.ResourceVersion = strconv.FormatInt(c.nextVersion(), 10)
	c.objects.services[keyOf(service)] = service
	c.touch()
	return "configured", nil
}

// threeWay merges the manifest into the live object and removes what an earlier apply had set and
// the manifest no longer has. Lists are replaced as a whole, which is what removes Knative's
// defaults from a template's containers.
func threeWay(manifest, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	applied, err := lastApplied(manifest)
	if err != nil {
		return nil, err
	}
	modified := manifest.DeepCopy()
	annotate(modified, applied)
	modifiedJSON, err := modified.MarshalJSON()
	if err != nil {
		return nil, err
	}
	liveJSON, err := live.MarshalJSON()
	if err != nil {
		return nil, err
	}
	original := []byte(live.GetAnnotations()[corev1.LastAppliedConfigAnnotation])
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modifiedJSON, liveJSON)
	if err != nil {
		return nil, err
	}
	mergedJSON, err := jsonpatch.MergePatch(liveJSON, patch)
	if err != nil {
		return nil, err
	}
	merged := &unstructured.Unstructured{}
	return merged, merged.UnmarshalJSON(mergedJSON)
}

// lastApplied is the annotation that kubectl keeps of what it applied.
func lastApplied(manifest *unstructured.Unstructured) (string, error) {
	bare := manifest.DeepCopy()
	annotations := bare.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	if annotations == nil {
		annotations = map[string]string{}
	}
	bare.SetAnnotations(annotations)
	if len(annotations) == 0 {
		if err := unstructured.SetNestedMap(bare.Object, map[string]any{}, "metadata", "annotations"); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(bare.Object)
	return string(data) + "\n", err
}

func annotate(obj *unstructured.Unstructured, applied string) {
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[corev1.LastAppliedConfigAnnotation] = applied
	obj.SetAnnotations(annotations)
}

func isService(obj *unstructured.Unstructured) bool {
	ref := RefOf(obj)
	return ref.Group == servingGroup && ref.Kind == "Service"
}
