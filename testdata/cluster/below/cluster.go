package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	netv1alpha1 "knative.dev/networking/pkg/apis/networking/v1alpha1"
	netclient "knative.dev/networking/pkg/client/clientset/versioned"
	netinformers "knative.dev/networking/pkg/client/informers/externalversions"
	"knative.dev/pkg/kmeta"
	"knative.dev/serving/pkg/apis/serving"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	servingclient "knative.dev/serving/pkg/client/clientset/versioned"
	servinginformers "knative.dev/serving/pkg/client/informers/externalversions"
)

// byRevision is the index of the pods by their revision.
const byRevision = "revision"

// cluster is what the API server knows, kept up to date by watches.
type cluster struct {
	kube       kubernetes.Interface
	networking netclient.Interface
	pods       cache.SharedIndexInformer
	ingresses  cache.SharedIndexInformer
	revisions  cache.SharedIndexInformer
	rules      book
}

// watch makes the informers; start starts them when their event handlers are in place. There is no resync: every
// status is written when something changed, or when a rule's time has come.
func watch(config *rest.Config) (*cluster, error) {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the Kubernetes client: %w", err)
	}
	networking, err := netclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the networking client: %w", err)
	}
	services, err := servingclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the serving client: %w", err)
	}
	const resync time.Duration = 0
	c := &cluster{
		kube: kube, networking: networking,
		pods:      informers.NewSharedInformerFactory(kube, resync).Core().V1().Pods().Informer(),
		ingresses: netinformers.NewSharedInformerFactory(networking, resync).Networking().V1alpha1().Ingresses().Informer(),
		revisions: servinginformers.NewSharedInformerFactory(services, resync).Serving().V1().Revisions().Informer(),
		rules:     rules(),
	}
	if err := c.pods.AddIndexers(cache.Indexers{byRevision: revisionOf}); err != nil {
		return nil, fmt.Errorf("indexing pods by revision: %w", err)
	}
	return c, nil
}

func revisionOf(object any) ([]string, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.Labels[serving.RevisionLabelKey] == "" {
		return nil, nil
	}
	return []string{pod.Namespace + "/" + pod.Labels[serving.RevisionLabelKey]}, nil
}

// start returns when every informer has seen what there is.
func (c *cluster) start(ctx context.Context) error {
	for _, informer := range []cache.SharedIndexInformer{c.pods, c.ingresses, c.revisions} {
		go informer.Run(ctx.Done())
	}
	if !cache.WaitForCacheSync(ctx.Done(), c.pods.HasSynced, c.ingresses.HasSynced, c.revisions.HasSynced) {
		return errors.New("ended before the API server told what there is")
	}
	return nil
}

// pod is nil for a pod that is gone.
func (c *cluster) pod(key string) *corev1.Pod {
	object, _, _ := c.pods.GetIndexer().GetByKey(key) // A store in memory, whose errors are always nil.
	pod, _ := object.(*corev1.Pod)
	return pod
}

// ingress is nil for a KIngress that is gone.
func (c *cluster) ingress(key string) *netv1alpha1.Ingress {
	object, _, _ := c.ingresses.GetIndexer().GetByKey(key)
	ingress, _ := object.(*netv1alpha1.Ingress)
	return ingress
}

// backend tells how a revision, named namespace/name, answers.
func (c *cluster) backend(name string) (backend, bool) {
	object, _, _ := c.revisions.GetIndexer().GetByKey(name)
	revision, ok := object.(*servingv1.Revision)
	if !ok {
		return backend{}, false
	}
	image := servingImage(revision.Spec.Containers)
	pods, _ := c.pods.GetIndexer().ByIndex(byRevision, name) // An index that is there, whose errors are always nil.
	return backend{
		image: image, behaviour: c.rules.behaviourOf(image),
		ready: slices.ContainsFunc(pods, isReadyPod), asleep: len(pods) == 0 && revision.IsReady(),
	}, true
}

// wake does what Knative's activator and autoscaler do together: the autoscaler here hears of no requests, and leaves
// the scale as it is.
func (c *cluster) wake(ctx context.Context, name string) error {
	namespace, revision, _ := strings.Cut(name, "/")
	deployment := kmeta.ChildName(revision, "-deployment")
	_, err := c.kube.AppsV1().Deployments(namespace).Patch(ctx, deployment, types.MergePatchType, []byte(`{"spec": {"replicas": 1}}`), metav1.PatchOptions{}, "scale")
	if err != nil {
		return fmt.Errorf("scaling deployment %s/%s: %w", namespace, deployment, err)
	}
	return nil
}

func isReadyPod(object any) bool {
	pod, ok := object.(*corev1.Pod)
	return ok && podReady(pod)
}

func podReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// servingImage is the image of the container that takes requests: in Knative the one with ports, or the only one.
func servingImage(containers []corev1.Container) string {
	for _, c := range containers {
		if len(c.Ports) > 0 {
			return c.Image
		}
	}
	if len(containers) == 0 {
		return ""
	}
	return containers[0].Image
}
